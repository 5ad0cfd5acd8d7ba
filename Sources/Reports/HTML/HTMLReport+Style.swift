import Ledger
extension HTMLReport {
  /// The page's style, for phones, for paper, and for light and dark modes.
  static let style = """

    :root{--ink:#1c2430;--soft:#545f6e;--line:#e3e7ec;--paper:#fff;--ground:#f6f7f9;\
    --written:#1f6a3d;--settled:#4c586a;--waiting:#7d5200;--attention:#a42a23;--tint:12%;\
    --mark:#fff3d6;--link:#1d4f91}
    @media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--line:#2b333f;\
    --paper:#171c24;--ground:#0f1319;--written:#63c48a;--settled:#8d9aab;--waiting:#e0aa4b;\
    --attention:#f59b94;--tint:16%;--mark:#3b3115;--link:#9cc3f7}}
    *{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%}
    body{margin:0;background:var(--ground);color:var(--ink);line-height:1.5;\
    font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
    header,main,footer{max-width:62rem;margin:0 auto;padding:0 1.25rem}
    header{padding-top:2.5rem;padding-bottom:.5rem}
    h1{font-size:1.9rem;line-height:1.2;margin:.1rem 0 .35rem;letter-spacing:-.01em;\
    overflow-wrap:anywhere}
    h2{font-size:1.15rem;margin:0 0 .25rem;display:flex;gap:.6rem;align-items:center}
    h3{font-size:1rem;margin:0;font-weight:600;overflow-wrap:anywhere}
    p{margin:.25rem 0}
    .eyebrow{color:var(--soft);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
    .meta,.where,.quiet,footer,small{color:var(--soft)}
    .meta,.where{font-size:.875rem;overflow-wrap:anywhere}
    .next{color:var(--ink);overflow-wrap:anywhere}
    .o,.meta time,.where time,.reason time,.timeline time{white-space:nowrap}
    .trends{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem 1.25rem}
    .trends figure{margin:0}
    .trends svg{display:block;width:100%;height:2.5rem}
    .trends rect{fill:var(--settled)}.trends rect.here{fill:var(--link)}
    .trends figcaption{color:var(--soft);font-size:.85rem}
    code{font:.86em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    h3 code{color:var(--soft);font-weight:400}
    .object{color:var(--soft);font-weight:500}
    a{color:var(--link)}a.tag,.next a{color:inherit}
    :focus-visible{outline:2px solid var(--link);outline-offset:2px}
    section{background:var(--paper);border:1px solid var(--line);border-radius:14px;\
    padding:1.25rem;margin:1rem 0}
    .lead{font-size:1.25rem;margin:0 0 .75rem}
    .bar{display:flex;height:.7rem;gap:2px;border-radius:99px;overflow:hidden;\
    background:var(--line)}
    .bar span{min-width:4px}
    .bar .written{background:var(--written)}.bar .settled{background:var(--settled)}
    .bar .waiting{background:var(--waiting)}.bar .attention{background:var(--attention)}
    .legend{list-style:none;display:flex;flex-wrap:wrap;gap:.35rem 1.5rem;margin:.75rem 0 1rem;\
    padding:0;font-size:.925rem}
    .legend li::before{content:"";display:inline-block;width:.65rem;height:.65rem;\
    border-radius:3px;margin-right:.45rem;background:currentColor}
    .legend .written::before{background:var(--written)}
    .legend .settled::before{background:var(--settled)}
    .legend .waiting::before{background:var(--waiting)}
    .legend .attention::before{background:var(--attention)}
    .tag{display:inline-block;padding:.08rem .55rem;border-radius:99px;font-size:.85rem;\
    font-weight:600;text-decoration:none;white-space:nowrap}
    a.tag:hover,a.tag:focus-visible{text-decoration:underline}
    .tag.written{color:var(--written);background:color-mix(in srgb,var(--written) var(--tint),\
    transparent)}
    .tag.settled{color:var(--settled);background:color-mix(in srgb,var(--settled) var(--tint),\
    transparent)}
    .tag.waiting{color:var(--waiting);background:color-mix(in srgb,var(--waiting) var(--tint),\
    transparent)}
    .tag.attention{color:var(--attention);background:color-mix(in srgb,\
    var(--attention) var(--tint),transparent)}
    .soups .tag,.groups .tag{font-weight:500;margin:.1rem 0}
    .count{color:var(--soft);font-weight:500}
    caption{text-align:left;color:var(--soft);font-size:.825rem;padding:0 0 .35rem}
    table{border-collapse:collapse;width:100%;font-size:.925rem}
    th,td{text-align:left;vertical-align:top;padding:.45rem .75rem .45rem 0;\
    border-top:1px solid var(--line)}
    thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.825rem;padding-top:0}
    tfoot th,tfoot td{font-weight:600}
    tfoot td:last-child{font-weight:400;color:var(--soft)}
    tbody th{font-weight:500}
    .number{text-align:right;font-variant-numeric:tabular-nums;padding-right:1.25rem}
    .verdicts td:last-child{color:var(--soft)}
    article{border-top:1px solid var(--line);padding:.85rem 0}
    article:target{background:var(--mark);box-shadow:0 0 0 .5rem var(--mark);border-radius:4px}
    h3 .tag{margin-right:.2rem}
    .edits article{content-visibility:auto;contain-intrinsic-size:auto 14rem}
    .verdict>.quiet{margin-bottom:.75rem}
    .findings h3 .tag{margin-right:.35rem}
    .reason{margin:.4rem 0;padding:.1rem .8rem;border-left:3px solid var(--line);\
    overflow-wrap:anywhere;white-space:pre-line}
    .findings .reason,.reason.attention{border-color:var(--attention)}
    .reason.waiting{border-color:var(--waiting)}
    .fields{table-layout:fixed;margin-top:.5rem}
    .fields th:first-child{width:22%}
    .fields td,.fields th{overflow-wrap:anywhere}
    .fields td{white-space:pre-wrap}
    .fields i{color:var(--soft)}
    .fields caption{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
    .outside .fields caption{position:static;clip-path:none;width:auto;height:auto}
    .changed{font-weight:600}
    .conflicting td,.conflicting th{background:color-mix(in srgb,var(--attention) 7%,transparent)}
    .conflicting th{box-shadow:inset 3px 0 var(--attention);padding-left:.6rem}
    .outside{margin-top:.6rem;color:var(--soft);font-size:.95em}
    .decide{margin-top:.6rem;color:var(--soft);font-size:.9em;overflow-wrap:anywhere}
    .decide ul{list-style:none;margin:.15rem 0;padding:0}
    .decide li{margin:.15rem 0}
    details{margin-top:.4rem;font-size:.875rem;color:var(--soft)}
    summary{cursor:pointer;width:fit-content}
    .timeline ol{list-style:none;margin:.5rem 0 0;padding:0;font-size:.925rem}
    .timeline li{padding:.3rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
    .timeline li span{display:inline-block;max-width:100%;padding-left:.75rem}
    .timeline time{color:var(--soft);font-variant-numeric:tabular-nums}
    .tools{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));\
    gap:.6rem .75rem;margin:.5rem 0 .75rem}
    .tools label{display:block;color:var(--soft);font-size:.825rem}
    .tools input,.tools select,button{font:inherit;color:var(--ink);background:var(--paper);\
    border:1px solid var(--soft);border-radius:8px}
    .tools input,.tools select{width:100%;padding:.4rem .5rem;min-height:2.5rem}
    button{padding:.05rem .55rem;margin-left:.5rem;font-size:.85rem;min-height:1.7rem;cursor:pointer}
    .more{margin:.75rem 0 0;padding:.45rem 1rem;font-size:.925rem}
    .found{color:var(--soft);font-size:.925rem}
    .outside .changed{font-weight:500}
    footer{padding-top:.5rem;padding-bottom:3rem;font-size:.85rem}
    @media (max-width:40rem){
    header{padding-top:1.5rem}h1{font-size:1.5rem}
    header,main,footer{padding-left:.85rem;padding-right:.85rem}
    section{padding:1rem .9rem;border-radius:12px}
    .fields,.fields tbody,.fields tr,.fields th,.fields td{display:block;width:auto}
    .fields thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
    .fields th:first-child{width:auto}
    .fields tr{border-top:1px solid var(--line);padding:.4rem 0}
    .fields th,.fields td{border:0;padding:.12rem .6rem}
    .fields td{display:grid;grid-template-columns:5.5rem 1fr;gap:.5rem}
    .fields td::before{content:attr(data-label);color:var(--soft);font-weight:400}
    .verdicts thead{display:none}
    .verdicts tr{display:grid;grid-template-columns:1fr auto;padding:.5rem 0;\
    border-top:1px solid var(--line)}
    .verdicts th,.verdicts td{border:0;padding:.1rem 0}
    .verdicts td:last-child,.groups td:last-child{grid-column:1/-1}
    .groups thead{display:none}
    .groups tr{display:grid;grid-template-columns:1fr auto;padding:.5rem 0;\
    border-top:1px solid var(--line)}
    .groups th,.groups td{border:0;padding:.1rem 0;overflow-wrap:anywhere}
    .runs,.runs caption,.runs thead,.runs tbody{display:block}
    .runs tr{display:grid;grid-template-columns:repeat(4,1fr);border-top:1px solid var(--line);\
    padding:.35rem 0}
    .runs th,.runs td{border:0;padding:.1rem 0}
    .runs th:first-child{grid-column:1/-1}}
    @media print{
    :root{--ground:#fff;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;color-scheme:light;\
    --tint:0%;--written:#1f6a3d;--settled:#4c586a;--waiting:#7d5200;--attention:#a42a23;\
    --mark:#fff3d6;--link:#1d4f91}
    body{font-size:10.5pt}section{border:0;padding:0;margin:0 0 1.2rem}
    article,tr,li,figure{break-inside:avoid}tbody tr:first-child{break-before:avoid}\
    h2,h3,caption,thead,.quiet{break-after:avoid}\
    .tools,button,details:not([open]){display:none}.tag{padding:0 .55rem 0 0}\
    .edits article{content-visibility:visible}tfoot{display:table-row-group}
    .bar,.tag,.legend li::before{-webkit-print-color-adjust:exact;print-color-adjust:exact}a{text-decoration:none}}

    """
}
