import Ledger
extension HTMLReport {
  /// The page's look: calm, readable on a phone, on paper, by day and by night.
  static let style = """

    :root{--ink:#1c2430;--soft:#5b6675;--line:#e3e7ec;--paper:#fff;--ground:#f6f7f9;\
    --written:#2b7a4b;--settled:#566375;--waiting:#a26a00;--attention:#b3372f;--tint:12%;\
    --mark:#fff3d6}
    @media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--line:#2b333f;\
    --paper:#171c24;--ground:#0f1319;--written:#63c48a;--settled:#8d9aab;--waiting:#e0aa4b;\
    --attention:#f0837b;--tint:20%;--mark:#3b3115}}
    *{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%}
    body{margin:0;background:var(--ground);color:var(--ink);line-height:1.5;\
    font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
    header,main,footer{max-width:62rem;margin:0 auto;padding:0 1.25rem}
    header{padding-top:2.5rem;padding-bottom:.5rem}
    h1{font-size:1.9rem;line-height:1.2;margin:.1rem 0 .35rem;letter-spacing:-.01em}
    h2{font-size:1.15rem;margin:0 0 .25rem;display:flex;gap:.6rem;align-items:center}
    h3{font-size:1rem;margin:0;font-weight:600;overflow-wrap:anywhere}
    p{margin:.25rem 0}
    .eyebrow{color:var(--soft);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
    .meta,.where,.quiet,footer,small{color:var(--soft)}
    .meta,.where{font-size:.875rem;overflow-wrap:anywhere}
    .next{color:var(--ink)}
    code{font:.86em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    h3 code{color:var(--soft);font-weight:400}
    .object{color:var(--soft);font-weight:500}
    a{color:inherit}
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
    .legend .none{opacity:.45}
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
    .soups .tag{font-weight:500;margin:.1rem 0}
    .count{color:var(--soft);font-weight:500}
    table{border-collapse:collapse;width:100%;font-size:.925rem}
    th,td{text-align:left;vertical-align:top;padding:.45rem .75rem .45rem 0;\
    border-top:1px solid var(--line)}
    thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.825rem;padding-top:0}
    tfoot th,tfoot td{font-weight:600}
    tfoot td:last-child{font-weight:400;color:var(--soft)}
    tbody th{font-weight:500}
    .number{text-align:right;font-variant-numeric:tabular-nums;padding-right:1.25rem}
    .verdicts td:last-child{color:var(--soft)}
    .chunk{content-visibility:auto}
    article{border-top:1px solid var(--line);padding:.85rem 0}
    article:target{background:var(--mark);box-shadow:0 0 0 .5rem var(--mark);border-radius:4px}
    .chunk article:last-child{padding-bottom:0}
    .verdict>.quiet{margin-bottom:.75rem}
    .group{margin:1rem 0 .5rem;display:flex;flex-wrap:wrap;gap:.25rem .6rem;align-items:baseline}
    .group .next{font-weight:400;font-size:.925rem}
    .findings h3 .tag{margin-right:.35rem}
    .reason{margin:.4rem 0;padding:.1rem .8rem;border-left:3px solid var(--line);\
    overflow-wrap:anywhere;white-space:pre-line}
    .attention .reason{border-color:var(--attention)}
    .waiting .reason{border-color:var(--waiting)}
    .fields{table-layout:fixed;margin-top:.5rem}
    .fields th:first-child{width:22%}
    .fields td,.fields th{overflow-wrap:anywhere}
    .fields td{white-space:pre-wrap}
    .fields i{color:var(--soft)}
    .changed{font-weight:600}
    .conflicting td,.conflicting th{background:color-mix(in srgb,var(--attention) 7%,transparent)}
    .conflicting th{box-shadow:inset 3px 0 var(--attention);padding-left:.6rem}
    .outside{margin-top:.6rem;color:var(--soft);font-size:.95em}
    .decide{margin-top:.6rem;color:var(--soft);font-size:.9em;overflow-wrap:anywhere}
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
    .fields td{display:grid;grid-template-columns:8.5rem 1fr;gap:.5rem}
    .fields td::before{content:attr(data-label);color:var(--soft);font-weight:400}
    .verdicts thead{display:none}
    .verdicts tr{display:grid;grid-template-columns:1fr auto;padding:.5rem 0;\
    border-top:1px solid var(--line)}
    .verdicts th,.verdicts td{border:0;padding:.1rem 0}
    .verdicts td:last-child{grid-column:1/-1}}
    @media print{
    :root{--ground:#fff;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;color-scheme:light;\
    --tint:0%}
    body{font-size:10.5pt}section{border:0;padding:0;margin:0 0 1.2rem}
    .chunk{content-visibility:visible}article,tr{break-inside:avoid}h2{break-after:avoid}
    .bar,.tag{-webkit-print-color-adjust:exact;print-color-adjust:exact}a{text-decoration:none}}

    """
}
