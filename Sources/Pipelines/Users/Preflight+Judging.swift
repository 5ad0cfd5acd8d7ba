import JSON
import MobileSync
import Salesforce
import System

// Describes the faults of the syncs' needs.
extension Preflight {
  static func judge(_ need: OrgNeed, _ session: Session) -> Judgement {
    guard let describe = session.knownObject(need.sobject) else {
      guard session.knows(need.sobject) else { return Judgement(unknown: need.sobject) }
      // A missing object is reported once, not for each field.
      guard need.field == nil else { return Judgement() }
      let message = "the org has no object \(JSONText.quoted(need.sobject)) for this user"
      return Judgement(
        words: Words(message: message, fix: "", isMissing: true), isOfObject: true)
    }
    guard let path = need.field else {
      let words = Words(
        message: "\(describe.name) cannot be queried", fix: "name an object that can be queried")
      return Judgement(words: describe.isQueryable ? nil : words)
    }
    var steps = path.split(separator: ".").map(String.init)
    let name = steps.popLast() ?? path
    var owner = describe
    var reached: [String] = []
    for step in steps {
      let relation = owner.fields.first { $0.relationshipName?.lowercased() == step.lowercased() }
      guard let relation else {
        let words = Self.missing(
          "\(owner.name) has no relationship", step, owner.fields.compactMap(\.relationshipName))
        return Judgement(words: words, reached: reached)
      }
      // A polymorphic reference has the fields of several objects.
      guard relation.referenceTo.count == 1 else { return Judgement(reached: reached) }
      let target = relation.referenceTo[0]
      reached.append(target)
      guard let next = session.knownObject(target) else {
        return Judgement(unknown: session.knows(target) ? nil : target, reached: reached)
      }
      owner = next
    }
    guard let field = owner.field(name) else {
      let words = Self.missing("\(owner.name) has no field", name, owner.fields.map(\.name))
      return Judgement(words: words, reached: reached)
    }
    if need.use.isOfRows, path == name, field.name != name {
      return Judgement(words: inOtherCase(name, field, owner), reached: reached)
    }
    return Judgement(words: words(of: need.use, field, owner), reached: reached)
  }

  /// The org accepts names in any case, but answers in its own spelling, and rows are looked up by
  /// that spelling alone.
  private static func inOtherCase(
    _ name: String, _ field: Describe.Field, _ object: Describe
  ) -> Words {
    Words(
      message: "\(object.name) has the field \(JSONText.quoted(field.name)), but the rows of a "
        + "soup would use \(JSONText.quoted(name))",
      fix: "write \(JSONText.quoted(field.name))", isInOtherCase: true)
  }

  private static func missing(_ subject: String, _ name: String, _ known: [String]) -> Words {
    // In the org where a package is developed, its names are accepted without the prefix.
    let full = known.first { $0.lowercased().hasSuffix("__" + name.lowercased()) }
    return Words(
      message: "\(subject) \(JSONText.quoted(name)) for this user",
      fix: full.map { "did you mean \(JSONText.quoted($0))?" } ?? fix(name, among: known),
      isMissing: true, mayHold: full != nil)
  }

  static func fix(_ word: String, among known: [String]) -> String {
    Spelling.nearest(word, among: known).map { "did you mean \(JSONText.quoted($0))?" }
      ?? "correct the name, or grant the user access to it"
  }

  private static func words(
    of use: OrgNeed.Use, _ field: Describe.Field, _ object: Describe
  ) -> Words? {
    let name = "\(object.name).\(field.name)"
    switch use {
    case .read, .id: return nil
    case .filter where !field.isFilterable:
      return Words(
        message: "\(name) has the type \(field.type), which no query can compare",
        fix: "compare another field")
    case .create where !field.isCreateable:
      return Words(
        message:
          "this user cannot set \(name) in new records, so the org refuses every record with it",
        fix: "remove it from the list, or grant the user the right")
    case .update where !field.isUpdateable:
      return Words(
        message: "this user cannot edit \(name), so the org refuses every change of it",
        fix: "remove it from the list, or grant the user the right")
    case .externalID where !field.isExternalID && !field.isIDLookup:
      return Words(
        message: "\(name) is not an external ID, so no record can be sent with it",
        fix: "name a field that is an external ID")
    case .modificationDate where field.type != "datetime":
      return Words(
        message: "\(name) has the type \(field.type), not date and time",
        fix: "name the field with the record's modification date, such as \"LastModifiedDate\"")
    case .parent(let type)
    where !field.referenceTo.contains { $0.lowercased() == type.lowercased() }:
      return Words(
        message: "\(name) does not refer to \(type)",
        fix: "name the field of \(object.name) that holds the Id of its \(type)")
    default: return nil
    }
  }
}
