import Crypto
import HTTP
import Ledger
import Reports

/// The page itself: plain HTML, one style sheet and one script, all served by attache.
///
/// The page contains no values; its script requests them below the page's own path.
enum ReviewPage {
  /// Returns the page of a pipeline for the operator `name`.
  static func answer(pipeline: String, by name: String) -> ServerResponse {
    let nonce = Hex.encode(RandomBytes.make(16))
    let policy =
      "default-src 'none'; connect-src 'self'; img-src data:; script-src 'nonce-\(nonce)'; "
      + "style-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return ServerResponse(
      status: 200,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy,
      ], body: Array(page(pipeline, name, nonce).utf8))
  }

  private static func page(_ pipeline: String, _ name: String, _ nonce: String) -> String {
    let (pipeline, name) = (HTMLText.escaped(pipeline), HTMLText.escaped(name))
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="icon" href="data:,">
      <title>Review of \(pipeline)</title>
      <style nonce="\(nonce)">\(style)</style>
      </head>
      <body>
      <header>
      <div><p class="eyebrow">Open edits</p><h1>\(pipeline)</h1></div>
      <p class="meta">Deciding as <b>\(name)</b>. <span id="freshness"></span></p>
      <p class="tools"><button id="look" type="button">Refresh from the org</button>
      <button id="keys" type="button">Keys <kbd>?</kbd></button></p>
      </header>
      \(body)
      <script nonce="\(nonce)">\(script)\(detailScript)\(keysScript)</script>
      </body>
      </html>

      """
  }

  /// The decisions with a keyboard shortcut; `ReviewPage.words` describes each.
  static let keys: [(kind: Decision.Kind, key: String)] = [
    (.device, "d"), (.server, "s"), (.retry, "r"), (.discard, "x"),
  ]

  private static let buttons = keys.map {
    "<button type=\"button\" data-all=\"\($0.kind.rawValue)\">\($0.kind.label)</button>"
  }.joined(separator: "\n")

  private static let body = """
    <main>
    <noscript><p class="note">This page needs JavaScript. Without it, decide on the \
    command line.</p></noscript>
    <section id="filters" aria-label="Filters">
    <label>Search <input id="search" type="search" autocomplete="off" spellcheck="false"></label>
    <label>Verdict <select id="verdict"></select></label>
    <label>User <select id="user"></select></label>
    <p id="count" role="status"></p>
    <div id="bulk" role="group" aria-label="All shown edits">
    <span>All shown:</span>
    \(buttons)
    <button type="button" data-all="">Clear</button>
    </div>
    </section>
    <div id="panes">
    <div id="list" role="listbox" tabindex="0" aria-label="Open edits"><div id="rows" \
    role="presentation"></div></div>
    <section id="detail" aria-label="Selected edit" tabindex="-1"></section>
    </div>
    </main>
    <footer>
    <p id="chosen" role="status"></p>
    <button id="plan" type="button" class="main" disabled>Show the plan <kbd>↵</kbd></button>
    </footer>
    <dialog id="dialog" aria-labelledby="dialog-title"></dialog>
    """
}
