extension ReviewPage {
  /// The style of the page: two panes, one below the other on a phone, in a light and a dark theme.
  static let style = """

    :root{--ink:#1c2430;--soft:#525d6b;--line:#d9dee5;--paper:#fff;--ground:#f4f6f8;\
    --attention:#a32b24;--waiting:#7d5200;--settled:#4c5868;--good:#1f6a3e;--mark:#ffe7a3;\
    --here:#e4edfb;--accent:#1d4f9e;--on-accent:#fff}
    @media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#a7b2c0;--line:#333d4a;\
    --paper:#171c24;--ground:#0f1319;--attention:#f5968f;--waiting:#e5b562;--settled:#a3afbe;\
    --good:#7cd19c;--mark:#574a14;--here:#22304a;--accent:#8db8ff;--on-accent:#0d1a30}}
    *{box-sizing:border-box}
    html,body{height:100%}
    html{-webkit-text-size-adjust:100%}
    body{margin:0;display:flex;flex-direction:column;background:var(--ground);color:var(--ink);\
    font:16px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
    header{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:end;padding:.9rem 1.25rem .5rem}
    h1{font-size:1.5rem;line-height:1.2;margin:0}
    h2{font-size:1.2rem;line-height:1.25;margin:0 0 .2rem;overflow-wrap:anywhere}
    h3{font-size:1rem;margin:1.1rem 0 .3rem}
    p{margin:.25rem 0}
    .eyebrow{color:var(--soft);font-size:.78rem;letter-spacing:.06em;text-transform:uppercase;margin:0}
    .meta,.soft{color:var(--soft);font-size:.9rem}
    .tools{margin-left:auto;display:flex;gap:.5rem}
    main{flex:1;min-height:0;display:flex;flex-direction:column;padding:0 1.25rem .75rem}
    button,select,input{font:inherit;color:inherit}
    button,select,input[type=search],input[type=text]{background:var(--paper);\
    border:1px solid var(--soft);border-radius:8px;padding:.3rem .65rem}
    input[type=text]{min-width:6rem;width:100%}
    td input[type=text]+button{margin-top:.25rem;font-size:.85rem;padding:.1rem .5rem}
    button{cursor:pointer}
    button:hover:not(:disabled){border-color:var(--accent)}
    button:disabled{opacity:.55;cursor:default}
    button.main{background:var(--accent);color:var(--on-accent);border-color:var(--accent);\
    font-weight:600}
    button.main:disabled{background:var(--paper);color:var(--ink);border-color:var(--soft)}
    button[aria-pressed=true]{border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent);\
    font-weight:600}
    :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
    kbd,code{font:.86em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    .o{white-space:nowrap}
    ::placeholder{color:var(--soft);opacity:1}
    a{color:var(--accent)}
    #filters{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;padding:.25rem 0 .75rem}
    #count{color:var(--soft);margin:0}
    #bulk{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center;margin-left:auto}
    #panes{flex:1;min-height:0;display:grid;grid-template-columns:minmax(20rem,2fr) 3fr;gap:1rem}
    #list,#detail{background:var(--paper);border:1px solid var(--line);border-radius:12px;\
    overflow:auto;min-height:0}
    #detail{padding:1rem 1.25rem}
    #rows{position:relative}
    [role=option]{position:absolute;left:0;right:0;height:64px;padding:.5rem .9rem;\
    border-bottom:1px solid var(--line);display:grid;grid-template-columns:1fr auto;\
    gap:0 .75rem;align-content:center;cursor:pointer;overflow:hidden}
    [role=option]>*{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
    [role=option][aria-selected=true]{background:var(--here);\
    box-shadow:inset 4px 0 0 var(--accent)}
    [role=option] .name{font-weight:600}
    [role=option] .soft{font-size:.85rem}
    .verdict{font-weight:600;text-align:right;font-size:.875rem;color:var(--attention)}
    .verdict.waiting{color:var(--waiting)}
    .verdict.settled{color:var(--settled)}
    .choice{color:var(--good);font-size:.875rem;font-weight:600;text-align:right}
    .note{border-left:4px solid var(--waiting);padding:.35rem .75rem;margin:.6rem 0;\
    background:var(--ground)}
    .note.good{border-color:var(--good)}
    .note.bad{border-color:var(--attention)}
    .actions{display:flex;flex-wrap:wrap;gap:.5rem;margin:.75rem 0}
    table{border-collapse:collapse;width:100%;font-size:.925rem}
    caption{text-align:left;color:var(--soft);font-size:.875rem;padding-bottom:.25rem}
    th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;\
    border-top:1px solid var(--line);overflow-wrap:break-word}
    thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.85rem}
    tbody th{font-weight:600}
    .fields td:last-child:not(:only-child){min-width:8rem}
    td label{display:flex;gap:.45rem;align-items:baseline;cursor:pointer}
    td label span{white-space:pre-wrap;overflow-wrap:break-word;min-width:0}
    @media (min-width:1200px){td label span{min-width:7em}}
    .long{overflow-wrap:anywhere}
    tr.both th::after{content:" · both changed it";color:var(--attention);font-weight:500;\
    font-size:.8rem}
    tr.theirs th::after{content:" · only the org changed it";color:var(--soft);font-weight:500;\
    font-size:.8rem}
    mark{background:var(--mark);color:inherit;border-radius:2px}
    .empty{color:var(--soft);font-style:italic;white-space:nowrap}
    footer{display:flex;gap:1rem;align-items:center;justify-content:flex-end;\
    padding:.6rem 1.25rem;border-top:1px solid var(--line);background:var(--paper)}
    footer p{margin:0}
    dialog{color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:14px;\
    max-width:min(60rem,94vw);width:60rem;max-height:86vh;padding:1.25rem;overflow:auto}
    dialog::backdrop{background:rgb(0 0 0/.45)}
    dl{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem;margin:.5rem 0}
    dt{font-weight:600}dd{margin:0}
    ul{padding-left:1.2rem;margin:.4rem 0}
    progress{width:100%;accent-color:var(--accent)}
    @media (max-width:960px){
    body{height:auto;min-height:100%}
    header,main,footer{padding-left:.9rem;padding-right:.9rem}
    .tools,#bulk{margin-left:0}
    #panes{display:block}
    #list{max-height:38vh;margin-bottom:.75rem}
    #detail{overflow:visible}
    #filters label{flex:1 1 40%}
    #filters select,#filters input{width:100%}
    .fields,.fields caption,.fields tbody,.fields tr,.fields th,.fields td{display:block}
    .fields thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
    .fields tr{border-top:1px solid var(--line);padding:.35rem 0}
    .fields th,.fields td{border:0;padding:.15rem 0}
    .fields td[data-label]{display:grid;grid-template-columns:6.5rem 1fr;gap:.5rem}
    .fields td[data-label]::before{content:attr(data-label);color:var(--soft)}
    footer{position:sticky;bottom:0;flex-wrap:wrap}}
    @media print{
    :root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--ground:#fff;--attention:#a32b24;\
    --waiting:#7d5200;--settled:#4c5868;--good:#1f6a3e;--mark:#fff;--here:#fff;--accent:#1d4f9e;\
    color-scheme:light}
    html,body{height:auto}body,main{display:block;font-size:10.5pt}#panes{display:block}
    #list,#detail{max-height:none;overflow:visible;border:0;padding:0;outline:0}
    #list{margin-bottom:1rem}.note{padding:0 .75rem}mark{text-decoration:underline}
    .tools,#filters,.actions,td button,details:not([open]),footer{display:none}
    tr,[role=option]{break-inside:avoid}}

    """
}
