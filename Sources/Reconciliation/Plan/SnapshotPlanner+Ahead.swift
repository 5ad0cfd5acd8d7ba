import MobileSync
import Salesforce

// Anticipates the queries of the second half of a plan, so that they can run together with others.
// Anything not anticipated here is queried when it is needed.
extension SnapshotPlanner {
  /// The objects of a plan.
  func objects(of draft: Draft) -> [String] {
    let names = draft.all.filter { $0.isOfRecord || $0.operation == .create }.map(\.sobject)
    return Set(names).sorted()
  }

  /// The queries for the records of a plan, as far as their objects are known.
  func questions(of draft: Draft) -> [RecordReader.Question] {
    var questions: [RecordReader.Question] = []
    let groups = Dictionary(grouping: draft.all.filter(\.isOfRecord), by: \.sobject)
    for (sobject, group) in groups.sorted(by: { $0.key < $1.key }) {
      guard let describe = records.known(sobject) else { continue }
      let (_, readable, ids) = asked(group, describe)
      questions.append(.records(sobject, ids: ids, fields: ["Id"] + readable))
    }
    for (key, group) in keyGroups(draft.candidates) {
      guard let describe = records.known(key.sobject) else { continue }
      for part in group.parts(of: RequestLimits.listedValues) {
        guard let (fields, condition) = search(key, part, of: group, describe) else { continue }
        questions.append(.search(describe, fields: fields, where: condition, all: false))
      }
    }
    return questions
  }
}
