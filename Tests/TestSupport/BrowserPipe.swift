import Foundation
import Glibc
import JSON
import System

/// The connection to a Chromium that this process started: its DevTools protocol over two pipes.
///
/// A zero byte ends each message. It blocks; `Browser` runs it on a dedicated thread. One `Browser`
/// at a time uses it.
final class BrowserPipe: @unchecked Sendable {
  /// The failure of a call or an event.
  struct Failure: Error, CustomStringConvertible { let description: String }

  private let process = Process()
  private let requests = Pipe()
  private let answers = Pipe()
  private var received: [UInt8] = []
  private var searched = 0
  private var lastID: Int64 = 0
  /// The page that receives calls; empty for the browser itself.
  var target = ""
  /// The events of the page that were not processed yet.
  var events: [JSONValue] = []

  /// Starts the browser with a new profile in `directory`.
  init(_ program: String, directory: String) throws {
    let flags = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-extensions", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars",
      "--force-color-profile=srgb", "--user-data-dir=\(directory)", "--remote-debugging-pipe",
      "about:blank",
    ]
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The protocol's pipes are the descriptors 3 and 4.
    process.arguments =
      [
        "-c", "exec 3<&0 4>&1 </dev/null >/dev/null 2>\"$0\"; exec \"$@\"",
        directory + "/chromium.log", program,
      ] + flags
    process.standardInput = requests
    process.standardOutput = answers
    // If the browser has ended while we write, the missing response shows it.
    signal(SIGPIPE, SIG_IGN)
    try process.run()
    try? answers.fileHandleForWriting.close()
    try? requests.fileHandleForReading.close()
  }

  /// Sends a request and waits for its response; events that arrive meanwhile are kept.
  func call(
    _ method: String, _ parameters: JSONObject = [:], seconds: Double = 60
  ) throws -> JSONValue {
    lastID += 1
    var request: JSONObject = [
      "id": JSONValue(lastID), "method": .string(method), "params": .object(parameters),
    ]
    if !target.isEmpty { request["sessionId"] = .string(target) }
    try requests.fileHandleForWriting.write(contentsOf: Data(JSONValue.object(request).bytes + [0]))
    let end = Date(timeIntervalSinceNow: seconds)
    while true {
      let message = try next(before: end, method)
      guard message["id"]?.int == lastID else {
        events.append(message)
        continue
      }
      if let error = message["error"] { throw Failure(description: "\(method): \(error.text)") }
      return message["result"] ?? [:]
    }
  }

  /// Waits for an event with matching parameters; earlier events are kept.
  func waitForEvent(
    _ method: String, seconds: Double = 60, where isIt: (JSONValue) -> Bool
  ) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while !events.contains(where: { $0["method"]?.string == method && isIt($0["params"] ?? .null) })
    { events.append(try next(before: end, method)) }
  }

  func end() {
    target = ""
    _ = try? call("Browser.close", seconds: 10)
    try? requests.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  deinit { if process.isRunning { process.terminate() } }

  private func next(before end: Date, _ method: String) throws -> JSONValue {
    while true {
      if let zero = received[searched...].firstIndex(of: 0) {
        let message = try JSONValue(parsing: Array(received[..<zero]))
        received.removeSubrange(...zero)
        searched = 0
        return message
      }
      searched = received.count
      let left = end.timeIntervalSinceNow
      guard left > 0 else { throw Failure(description: "no response to \(method) in time") }
      var waiting = pollfd(
        fd: answers.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, Int32(left * 1000) + 1) > 0 else { continue }
      let more = answers.fileHandleForReading.availableData
      if more.isEmpty {
        throw Failure(description: "Chromium ended before it responded to \(method)")
      }
      received.append(contentsOf: more)
    }
  }
}
