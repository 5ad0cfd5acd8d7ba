import JSON

/// The results of `QueryBench`.
struct QueryReport: BenchReport {
  /// One query: the times of the store and of SQL alone, for all of its executions.
  struct Answer {
    let name: String
    let times: Int
    /// The number of rows found in total, or the counted number.
    let rows: Int
    let storeNanoseconds: Int
    let floorNanoseconds: Int

    var ratio: Double { Double(storeNanoseconds) / Double(max(1, floorNanoseconds)) }
  }

  /// The number of records in each soup.
  let records: Int
  /// The limit of a query's time, as a multiple of its SQL.
  let limit: Double
  var answers: [Answer]

  /// The limits that are exceeded.
  var failures: [String] {
    answers.filter { $0.ratio > limit }.map {
      "\($0.name) takes \(Self.decimal($0.ratio, 2)) times its SQL; the limit is \(limit)"
    }
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "Querying a store of two soups with \(records) records each; the best of "
        + "several turns.", "",
      Self.row(["question", "times", "rows", "store µs", "SQL alone µs", "ratio"]),
    ]
    for answer in answers {
      lines.append(
        Self.row([
          answer.name, "\(answer.times)", "\(answer.rows)",
          Self.microseconds(answer.storeNanoseconds, answer.times),
          Self.microseconds(answer.floorNanoseconds, answer.times),
          Self.decimal(answer.ratio, 2),
        ]))
    }
    lines += [""] + failures.map { "FAILED: " + $0 }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(_ cells: [String]) -> String {
    let widths = [10, 6, 9, 12, 13, 6]
    return zip(cells, widths).enumerated().map { place, cell in
      let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return place == 0 ? cell.0 + space : space + cell.0
    }.joined(separator: " ")
  }

  /// The results as JSON.
  var json: JSONValue {
    [
      "records": JSONValue(records), "limit": JSONValue(limit),
      "answers": .array(
        answers.map {
          [
            "question": .string($0.name), "times": JSONValue($0.times), "rows": JSONValue($0.rows),
            "storeNanoseconds": JSONValue($0.storeNanoseconds),
            "floorNanoseconds": JSONValue($0.floorNanoseconds), "ratio": JSONValue($0.ratio),
          ]
        }),
      "failures": .array(failures.map { .string($0) }),
    ]
  }

  /// The mean time of one execution.
  private static func microseconds(_ nanoseconds: Int, _ times: Int) -> String {
    decimal(Double(nanoseconds) / Double(times) / 1000, times > 1 ? 2 : 0)
  }

  private static func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    guard places > 0 else { return "\(scaled)" }
    let fraction = String(scaled % Int(scale))
    return "\(scaled / Int(scale))." + String(repeating: "0", count: places - fraction.count)
      + fraction
  }
}
