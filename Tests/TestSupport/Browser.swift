import Foundation
import JSON
import System

/// A headless Chromium that a test drives as a person would: it opens pages, presses keys, clicks, looks.
///
/// It needs Debian's `chromium`, and `violations()` needs axe-core, which `make deps-test` fetches; tests that
/// need one that is missing are skipped, and say so.
package actor Browser {
  /// How a page is opened.
  package struct Look: Sendable, CustomStringConvertible {
    /// The width of the window in CSS pixels.
    package var width: Int
    /// Its height.
    package var height: Int
    /// Whether the reader prefers dark colours.
    package var isDark: Bool
    /// Whether scripts of the page run.
    package var hasScript: Bool
    /// The reader's time zone, by its name.
    package var zone: String

    /// A look: by default a window of a desk, by day, with scripts, in UTC.
    package init(
      width: Int = 1400, height: Int = 1000, isDark: Bool = false, hasScript: Bool = true,
      zone: String = "UTC"
    ) {
      self.width = width
      self.height = height
      self.isDark = isDark
      self.hasScript = hasScript
      self.zone = zone
    }

    /// The four that every page must stand: a desk and a phone, by day and by night.
    package static let all = [1400, 390].flatMap { width in
      [false, true].map { Look(width: width, isDark: $0) }
    }

    /// Its words in a test's name.
    package nonisolated var description: String {
      "\(width) px, \(isDark ? "dark" : "light")\(hasScript ? "" : ", without script")"
    }
  }

  /// The program, where there is one.
  package static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  /// Whether pages can be opened.
  package static var isThere: Bool { program != nil }
  /// Whether pages can be opened and judged by axe-core.
  package static var hasAxe: Bool {
    isThere && FileManager.default.isReadableFile(atPath: axe.path)
  }
  private static let axe = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent(".build/axe/axe.min.js")

  private let thread = ActorThread(name: "browser")
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }
  private let directory = TemporaryDirectory("browser")
  private let pipe: BrowserPipe

  /// Starts Chromium with an empty profile.
  package init() throws {
    guard let program = Self.program else {
      throw BrowserPipe.Failure(description: "there is no chromium: apt-get install chromium")
    }
    pipe = try BrowserPipe(program, directory: directory.path)
  }

  /// Ends Chromium.
  package func close() { pipe.end() }

  // MARK: pages

  /// Opens an address, or a file by its path, in a fresh page, and waits until it is loaded: how many seconds
  /// that took.
  @discardableResult
  package func open(_ place: String, _ look: Look = Look()) throws -> Double {
    let address = place.hasPrefix("/") ? URL(fileURLWithPath: place).absoluteString : place
    let old = pipe.target
    pipe.target = ""
    let created = try pipe.call("Target.createTarget", ["url": "about:blank"])
    let attached = try pipe.call(
      "Target.attachToTarget", ["targetId": created["targetId"] ?? .null, "flatten": true])
    pipe.target = attached["sessionId"]?.string ?? ""
    if !old.isEmpty { pipe.events = [] }
    for domain in ["Page", "Runtime", "Log", "Network"] { _ = try pipe.call(domain + ".enable") }
    _ = try pipe.call("Page.setLifecycleEventsEnabled", ["enabled": true])
    // In seconds of the page's own thread: what else the machine does meanwhile is not the page's.
    _ = try pipe.call("Performance.enable", ["timeDomain": "threadTicks"])
    try set(look)
    _ = try pipe.call("Target.activateTarget", ["targetId": created["targetId"] ?? .null])
    pipe.events = []
    let start = Clock.monotonicNanoseconds()
    let answer = try pipe.call("Page.navigate", ["url": .string(address)])
    if let error = answer["errorText"]?.string {
      throw BrowserPipe.Failure(description: "\(address): \(error)")
    }
    // The empty page that the target began with is loaded too, and on a busy machine only now.
    try pipe.waitForEvent("Page.lifecycleEvent") {
      $0["name"] == "load" && $0["loaderId"] == answer["loaderId"]
    }
    return Double(Clock.monotonicNanoseconds() - start) / 1e9
  }

  /// Changes the window, the colours, the zone, or whether scripts run, of the page that is open.
  package func set(_ look: Look) throws {
    _ = try pipe.call(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": JSONValue(look.width), "height": JSONValue(look.height), "deviceScaleFactor": 1,
        "mobile": JSONValue(look.width < 600),
      ])
    let scheme: JSONValue = look.isDark ? "dark" : "light"
    _ = try pipe.call(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": scheme]]])
    _ = try pipe.call("Emulation.setTimezoneOverride", ["timezoneId": .string(look.zone)])
    _ = try pipe.call(
      "Emulation.setScriptExecutionDisabled", ["value": JSONValue(!look.hasScript)])
  }

  /// The value of an expression in the page, as JSON; a promise is waited for.
  @discardableResult
  package func run(_ script: String) throws -> JSONValue {
    let answer = try pipe.call(
      "Runtime.evaluate",
      [
        "expression": .string(script), "returnByValue": true, "awaitPromise": true,
        "userGesture": true,
      ], seconds: 120)
    if let exception = answer["exceptionDetails"] {
      let words = exception["exception"]?["description"]?.string ?? exception.text
      throw BrowserPipe.Failure(description: words)
    }
    return answer["result"]?["value"] ?? .null
  }

  /// Waits until an expression is true, looked at in every frame that the page draws.
  package func wait(until condition: String, seconds: Int = 30) throws {
    let script = """
      new Promise((done, failed) => {
        const end = performance.now() + \(seconds * 1000)
        const look = () => {
          if (\(condition)) done(true)
          else if (performance.now() > end) failed(new Error('it never came true'))
          else setTimeout(look, 10)
        }
        look()
      })
      """
    do { try run(script) } catch {
      throw BrowserPipe.Failure(description: "\(condition): \(error)")
    }
  }

  /// The text that a person sees of the first element that a selector names, scrolled to where the page has
  /// not drawn it yet (`content-visibility: auto`): until then its text is empty.
  package func text(_ selector: String) throws -> String {
    try run(
      """
      new Promise((done, failed) => {
        const element = document.querySelector(\(JSONValue(selector).text))
        const isUndrawn = () => element?.checkVisibility() &&
          !element.checkVisibility({contentVisibilityAuto: true})
        if (isUndrawn()) element.scrollIntoView({block: 'nearest', behavior: 'instant'})
        const end = performance.now() + 30000
        const look = () => {
          if (!isUndrawn()) done(element?.innerText ?? '')
          else if (performance.now() > end) failed(new Error('it was never drawn'))
          else setTimeout(look, 10)
        }
        look()
      })
      """
    ).string ?? ""
  }

  /// How many seconds of work the page's thread has done since the page was opened.
  package func work() throws -> Double {
    let metrics = try pipe.call("Performance.getMetrics")["metrics"]?.array ?? []
    return metrics.first { $0["name"] == "TaskDuration" }?["value"]?.double ?? .infinity
  }

  // MARK: hands

  /// Presses and releases a key: a character, or `Enter`, `Escape`, `Tab`, `ArrowDown`, `Backspace`, ….
  package func press(_ key: String, control: Bool = false, shift: Bool = false) throws {
    let codes: [String: Int] = [
      "Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, "Delete": 46, "ArrowLeft": 37,
      "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33,
      "PageDown": 34, " ": 32,
    ]
    let text = key == "Enter" ? "\r" : key.count == 1 && !control ? key : nil
    let code = codes[key] ?? Int(key.uppercased().unicodeScalars.first?.value ?? 0)
    var event: JSONObject = [
      "key": .string(key), "windowsVirtualKeyCode": JSONValue(code),
      "modifiers": JSONValue((control ? 2 : 0) + (shift ? 8 : 0)),
    ]
    event["type"] = text == nil ? "rawKeyDown" : "keyDown"
    if let text { event["text"] = .string(text) }
    _ = try pipe.call("Input.dispatchKeyEvent", event)
    event["type"] = "keyUp"
    event["text"] = nil
    _ = try pipe.call("Input.dispatchKeyEvent", event)
  }

  /// Types a text where the focus is.
  package func type(_ text: String) throws {
    _ = try pipe.call("Input.insertText", ["text": .string(text)])
  }

  /// Clicks in the middle of the first element that a selector names, scrolled into sight.
  package func click(_ selector: String) throws {
    let place = try run(
      """
      (() => {
        const element = document.querySelector(\(JSONValue(selector).text))
        if (!element) return null
        element.scrollIntoView({block: 'center', behavior: 'instant'})
        const box = element.getBoundingClientRect()
        return [box.left + box.width / 2, box.top + box.height / 2]
      })()
      """)
    guard let x = place[0], let y = place[1] else {
      throw BrowserPipe.Failure(description: "nothing on the page is \(selector)")
    }
    for type in ["mouseMoved", "mousePressed", "mouseReleased"] {
      _ = try pipe.call(
        "Input.dispatchMouseEvent",
        [
          "type": .string(type), "x": x, "y": y, "button": type == "mouseMoved" ? "none" : "left",
          "clickCount": type == "mouseMoved" ? 0 : 1,
        ])
    }
  }

  // MARK: eyes

  /// What the console holds of errors and warnings since the page was opened, exceptions, refusals by the
  /// page's policy and requests that failed too.
  package func errors() throws -> [String] {
    // Its answer comes behind everything that the page has said before.
    _ = try pipe.call("Runtime.evaluate", ["expression": "0"])
    return pipe.events.compactMap { event in
      let parameters = event["params"]
      switch event["method"]?.string {
      case "Runtime.exceptionThrown":
        let details = parameters?["exceptionDetails"]
        return details?["exception"]?["description"]?.string ?? details?.text
      case "Runtime.consoleAPICalled":
        guard ["error", "warning", "assert"].contains(parameters?["type"]?.string) else {
          return nil
        }
        return parameters?["args"]?.text
      case "Log.entryAdded":
        guard ["error", "warning"].contains(parameters?["entry"]?["level"]?.string) else {
          return nil
        }
        return [parameters?["entry"]?["text"], parameters?["entry"]?["url"]]
          .compactMap { $0?.string }.joined(separator: " ")
      default: return nil
      }
    }
  }

  /// The addresses that the page asked for since it was opened, its own among them.
  package func requests() throws -> [String] {
    _ = try pipe.call("Runtime.evaluate", ["expression": "0"])
    return pipe.events.filter { $0["method"]?.string == "Network.requestWillBeSent" }
      .compactMap { $0["params"]?["request"]?["url"]?.string }
  }

  /// Writes a picture (PNG) of what the window shows, or of the whole page.
  package func screenshot(to path: String, whole: Bool = false) throws {
    let answer = try pipe.call(
      "Page.captureScreenshot", ["captureBeyondViewport": JSONValue(whole)])
    try write(answer, path)
  }

  /// Writes the page as it is printed (PDF, A4).
  package func print(to path: String) throws {
    let answer = try pipe.call(
      "Page.printToPDF", ["printBackground": false, "paperWidth": 8.27, "paperHeight": 11.69])
    try write(answer, path)
  }

  private func write(_ answer: JSONValue, _ path: String) throws {
    guard let data = Data(base64Encoded: answer["data"]?.string ?? "") else {
      throw BrowserPipe.Failure(description: "Chromium gave no data for \(path)")
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// What axe-core finds against WCAG 2.2 AA and good practice: the rule, and each place with its reason.
  ///
  /// `rules` names rules to leave out, with a reason at the call.
  package func violations(without rules: [String] = []) throws -> [String] {
    if try run("typeof axe === 'undefined'") == true {
      try run(String(contentsOf: Self.axe, encoding: .utf8) + ";0")
    }
    let disabled = JSONObject(rules.map { (name: $0, value: ["enabled": false] as JSONValue) })
    let found = try run(
      """
      axe.run(document, {rules: \(JSONValue.object(disabled).text), resultTypes: ['violations']}).then(
        results => results.violations.flatMap(violation => violation.nodes.map(node =>
          `${violation.id}: ${node.target.join(' ')}: ${node.failureSummary}`)))
      """)
    return (found.array ?? []).compactMap(\.string)
  }
}
