import System

/// The rows of `Tests/Fixtures/decisions.txt`, which explains its format.
enum DecisionTable {
  private static let lines: [Substring] = {
    let file = World.repository + "/Tests/Fixtures/decisions.txt"
    return String(decoding: (try? Files.read(file)) ?? [], as: UTF8.self)
      .split(separator: "\n").filter { !$0.hasPrefix("#") }
  }()

  static let shared: [String: String] = lines.reduce(into: [:]) { shared, line in
    if let match = line.wholeMatch(of: sharedSteps) {
      shared[String(match.output.1)] = String(match.output.2)
    }
  }

  private static var sharedSteps: Regex<(Substring, Substring, Substring)> { /([A-Z]+) = (.+)/ }

  static let rows: [DecisionRow] = {
    var (rows, setting): ([DecisionRow], DecisionRow.Setting) = ([], .plain)
    for line in lines where line.wholeMatch(of: sharedSteps) == nil {
      if line.hasPrefix("[") {
        setting = .init(rawValue: String(line.dropFirst().dropLast())) ?? setting
      } else if !line.hasPrefix(" ") {
        rows.append(DecisionRow(setting: setting, name: String(line)))
      } else {
        rows[rows.count - 1].steps += line.steps
      }
    }
    return rows
  }()
}

extension StringProtocol where SubSequence == Substring {
  fileprivate var steps: [DecisionStep] {
    split(separator: ";").flatMap { step -> [DecisionStep] in
      let words = step.split(separator: " ")
      guard let first = words.first, let shared = DecisionTable.shared[String(first)] else {
        return [DecisionStep(step)]
      }
      return (shared + step.dropFirst(step.distance(from: step.startIndex, to: first.endIndex)))
        .steps
    }
  }
}
