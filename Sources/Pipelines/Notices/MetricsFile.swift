import Ledger
import System

/// The metrics of a pipeline's last run, in the format of node exporter's textfile collector.
///
/// The format is the Prometheus text exposition format. Samples have no timestamps, and no label
/// names a user or a record.
package enum MetricsFile {
  private static let lastSuccess = "attache_last_success_timestamp_seconds"

  /// Replaces the file atomically, readable by every user.
  ///
  /// The time of the last success is kept from the previous file.
  package static func write(_ end: RunEnd, to path: String) throws(SystemError) {
    var success = end.didItsWork ? String(end.ended / 1000) : nil
    // If the file cannot be read, that time is unknown.
    if success == nil, let bytes = try? Files.read(path, limit: 1 << 20) {
      let before = String(decoding: bytes, as: UTF8.self)
      success = before.split(separator: "\n").first {
        $0.hasPrefix(lastSuccess + "{") && $0.contains(label("pipeline", end.pipeline))
      }?.split(separator: " ").last.map(String.init)
    }
    try DurableFile.write(Array(text(end, lastSuccess: success).utf8), to: path)
    // Node exporter runs as another user.
    try Files.setMode(of: path, 0o644)
  }

  static func text(_ end: RunEnd, lastSuccess success: String?) -> String {
    let own = label("pipeline", end.pipeline)
    var text = ""
    func add(_ name: String, _ help: String, _ samples: [(label: String?, value: String)]) {
      if samples.isEmpty { return }
      text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
      for sample in samples {
        text +=
          "\(name){\([own, sample.label].compactMap(\.self).joined(separator: ","))} \(sample.value)\n"
      }
    }
    func stages(_ value: (StageCost) -> String) -> [(label: String?, value: String)] {
      end.costs.map { (label("stage", $0.stage.rawValue), value($0)) }
    }
    add(
      "attache_last_run_timestamp_seconds", "Time of the end of the last run.",
      [(nil, String(end.ended / 1000))])
    add(
      lastSuccess, "Time of the end of the last whole run that succeeded.",
      success.map { [(nil, $0)] } ?? [])
    add(
      "attache_last_run_exit_status", "Exit status of the last run; attache help lists them.",
      [(nil, String(end.status.rawValue))])
    add(
      "attache_last_run_duration_seconds", "Duration of the last run.",
      [(nil, String(end.seconds))])
    add(
      "attache_last_run_stage_duration_seconds", "Duration of each stage.",
      stages { String(Double($0.milliseconds) / 1000) })
    add(
      "attache_last_run_requests", "Requests sent to the org, by stage.",
      stages { String($0.requests) })
    add(
      "attache_last_run_records", "Records fetched or edits resolved, by stage.",
      stages { String($0.records) })
    add(
      "attache_last_run_received_bytes", "Bytes of the org's answers, by stage.",
      stages { String($0.bytes) })
    // Leave out a metric that was not counted: missing is not zero.
    add(
      "attache_last_run_snapshots", "Snapshots primed.",
      end.snapshots.map { [(nil, String($0))] } ?? [])
    add(
      "attache_last_run_bundles", "Bundles written.", end.bundles.map { [(nil, String($0))] } ?? [])
    add(
      "attache_last_run_edits", "Edits processed, by verdict.",
      end.verdicts.map { counts("verdict", $0) } ?? [])
    if let open = end.open {
      add("attache_open_edits", "Open edits, by verdict.", counts("verdict", open))
    }
    if let findings = end.findings {
      let kinds = Finding.Kind.allCases.filter(\.wantsPerson)
      add(
        "attache_open_findings", "Other items that need review, by kind.",
        kinds.map { (label("kind", $0.rawValue), String(findings[$0] ?? 0)) })
    }
    return text
  }

  private static func counts(
    _ name: String, _ counts: [Verdict: Int]
  ) -> [(label: String?, value: String)] {
    Verdict.allCases.map { (label(name, $0.rawValue), String(counts[$0] ?? 0)) }
  }

  private static func label(_ name: String, _ value: String) -> String {
    let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n")
    return "\(name)=\"\(escaped)\""
  }
}
