import Foundation
import JSON
import System

/// A headless Chromium that a test drives like a user: it opens pages, presses keys, clicks and
/// reads.
///
/// It needs Debian's `chromium`, and `violations()` needs axe-core, which `make deps-test`
/// downloads. Tests without a program they need are skipped and reported.
package actor Browser {
  /// The settings with which a page is opened.
  package struct Look: Sendable, CustomStringConvertible {
    /// The width of the window in CSS pixels.
    package var width: Int
    /// The height of the window in CSS pixels.
    package var height: Int
    /// Whether the user prefers dark colors.
    package var isDark: Bool
    /// Whether scripts are enabled.
    package var hasScript: Bool
    /// The name of the user's time zone.
    package var zone: String

    /// Creates settings; by default a desktop window with light colors, scripts, and UTC.
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

    /// The four settings that every page must support: desktop and phone, light and dark.
    package static let all = [1400, 390].flatMap { width in
      [false, true].map { Look(width: width, isDark: $0) }
    }

    /// The settings in a test's name.
    package nonisolated var description: String {
      "\(width) px, \(isDark ? "dark" : "light")\(hasScript ? "" : ", without script")"
    }
  }

  /// The path of the program, if it is installed.
  package static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  /// Whether pages can be opened.
  package static var isThere: Bool { program != nil }
  /// Whether pages can be opened and checked by axe-core.
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
  /// The running programs that no test uses.
  private static let idle = Locked<[BrowserPipe]>([])
  private let pipe: BrowserPipe
  /// Its own empty profile; nil before the first page.
  private var profile: JSONValue?

  /// Takes a running Chromium that no other test uses, or starts one.
  package init() throws {
    guard let program = Self.program else {
      throw BrowserPipe.Failure(description: "Chromium is missing: apt-get install chromium")
    }
    if let known = Self.idle.withLock({ $0.popLast() }) {
      pipe = known
    } else {
      pipe = try BrowserPipe(program, directory: TemporaryDirectory.untilExit("browser").path)
      atexit { while let pipe = Browser.idle.withLock({ $0.popLast() }) { pipe.end() } }
    }
  }

  /// Closes its pages, and leaves the program to the next test.
  package func close() {
    pipe.target = ""
    let isClosed =
      try? pipe.call("Target.disposeBrowserContext", ["browserContextId": profile ?? .null])
    pipe.events = []
    if isClosed == nil { pipe.end() } else { Self.idle.withLock { $0.append(pipe) } }
  }

  // MARK: pages

  /// Opens an address or a file in a new page and waits until it is loaded; returns the time in
  /// seconds.
  @discardableResult package func open(_ place: String, _ look: Look = Look()) throws -> Double {
    let address = place.hasPrefix("/") ? URL(fileURLWithPath: place).absoluteString : place
    let old = pipe.target
    pipe.target = ""
    let known = try profile ?? pipe.call("Target.createBrowserContext")["browserContextId"]
    profile = known
    let created = try pipe.call(
      "Target.createTarget", ["url": "about:blank", "browserContextId": known ?? .null])
    let attached = try pipe.call(
      "Target.attachToTarget", ["targetId": created["targetId"] ?? .null, "flatten": true])
    pipe.target = attached["sessionId"]?.string ?? ""
    if !old.isEmpty { pipe.events = [] }
    for domain in ["Page", "Runtime", "Log", "Network"] { _ = try pipe.call(domain + ".enable") }
    _ = try pipe.call("Page.setLifecycleEventsEnabled", ["enabled": true])
    // The CPU time of the page's own thread, in seconds, which the machine's other work does not
    // affect.
    _ = try pipe.call("Performance.enable", ["timeDomain": "threadTicks"])
    try set(look)
    _ = try pipe.call("Target.activateTarget", ["targetId": created["targetId"] ?? .null])
    pipe.events = []
    let start = Clock.monotonicNanoseconds()
    let answer = try pipe.call("Page.navigate", ["url": .string(address)])
    if let error = answer["errorText"]?.string {
      throw BrowserPipe.Failure(description: "\(address): \(error)")
    }
    // The initial empty page is loaded too, on a busy machine only now.
    try pipe.waitForEvent("Page.lifecycleEvent") {
      $0["name"] == "load" && $0["loaderId"] == answer["loaderId"]
    }
    return Double(Clock.monotonicNanoseconds() - start) / 1e9
  }

  /// Changes the window, colors, time zone or scripts of the open page.
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
    _ = try pipe.call("Emulation.setScriptExecutionDisabled", ["value": JSONValue(!look.hasScript)])
  }

  /// The value of an expression in the page, as JSON; a promise is awaited.
  @discardableResult package func run(_ script: String) throws -> JSONValue {
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

  /// Waits until an expression is true, evaluated in every frame that the page draws.
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

  /// The visible text of the first element that matches a selector.
  ///
  /// The element is scrolled into view first: with `content-visibility: auto` its text is empty
  /// until it is drawn.
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

  /// The CPU time of the page's thread since the page was opened, in seconds.
  package func work() throws -> Double {
    let metrics = try pipe.call("Performance.getMetrics")["metrics"]?.array ?? []
    return metrics.first { $0["name"] == "TaskDuration" }?["value"]?.double ?? .infinity
  }

  // MARK: input

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

  /// Types a text into the focused element.
  package func type(_ text: String) throws {
    _ = try pipe.call("Input.insertText", ["text": .string(text)])
  }

  /// Clicks in the middle of the first element that matches a selector, scrolled into view.
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
      throw BrowserPipe.Failure(description: "no element of the page matches \(selector)")
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

  // MARK: output

  /// The console's errors and warnings since the page was opened, including exceptions, violations
  /// of the page's policy and failed requests.
  package func errors() throws -> [String] {
    // Its response follows all earlier messages of the page.
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

  /// The addresses that were requested since the page was opened, including the page's own.
  package func requests() throws -> [String] {
    _ = try pipe.call("Runtime.evaluate", ["expression": "0"])
    return pipe.events.filter { $0["method"]?.string == "Network.requestWillBeSent" }
      .compactMap { $0["params"]?["request"]?["url"]?.string }
  }

  /// Writes a screenshot (PNG) of the window or of the whole page.
  package func screenshot(to path: String, whole: Bool = false) throws {
    let answer = try pipe.call(
      "Page.captureScreenshot", ["captureBeyondViewport": JSONValue(whole)])
    try write(answer, path)
  }

  /// Writes the printed page (PDF, A4).
  package func print(to path: String) throws {
    let answer = try pipe.call(
      "Page.printToPDF", ["printBackground": false, "paperWidth": 8.27, "paperHeight": 11.69])
    try write(answer, path)
  }

  private func write(_ answer: JSONValue, _ path: String) throws {
    guard let data = Data(base64Encoded: answer["data"]?.string ?? "") else {
      throw BrowserPipe.Failure(description: "Chromium returned no data for \(path)")
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// The violations of WCAG 2.2 AA and good practice that axe-core finds: the rule, and each
  /// element with its reason.
  ///
  /// `rules` lists rules to disable, with a reason at the call.
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
