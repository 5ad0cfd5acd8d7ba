import Salesforce

/// Decides for the fields of an object whether their values depend on who reads them, and collects
/// what the values depend on.
///
/// A formula is followed through the fields that it reads.
struct FieldReview {
  private let object: Describe
  private var meanings: [String: String] = [:]
  /// The formulas that are being followed.
  private var open: Set<String> = []
  /// Whether one of the accepted fields is a formula.
  private(set) var hasFormulas = false

  init(_ object: Describe) { self.object = object }

  /// What the values of the accepted fields depend on, in order.
  var meaning: [String] { meanings.values.sorted() }

  /// Why the values of a field are not shared; nil if they may be.
  mutating func reason(against name: String) -> String? {
    let path = "\(object.name).\(name)"
    guard !name.contains(".") else { return "\(path) is a field of another record" }
    guard let field = object.field(name) else { return "\(path) is unknown to this user" }
    if meanings[field.name] != nil { return nil }
    if let reason = Self.reason(against: field) {
      return "\(object.name).\(field.name) \(reason)"
    }
    if field.isCalculated {
      if let reason = reason(againstFormulaOf: field) {
        return "\(object.name).\(field.name) \(reason)"
      }
      hasFormulas = true
    }
    meanings[field.name] = [
      field.name, field.type, field.compoundFieldName ?? "", field.formula ?? "",
    ].map { "\($0.utf8.count):\($0)" }.joined()
    return nil
  }

  /// Whether the values of a field may change although neither the record nor its reader does: with
  /// the time, or in a way that is not known.
  func mayMove(_ name: String) -> Bool {
    var seen: Set<String> = []
    return mayMove(name, &seen)
  }

  private func mayMove(_ name: String, _ seen: inout Set<String>) -> Bool {
    guard let field = object.field(name) else { return true }
    guard field.isCalculated, seen.insert(field.name).inserted else { return false }
    guard let words = field.formula.flatMap({ FormulaWords($0) }),
      words.functions.allSatisfy({ Self.functions.contains($0) })
    else { return true }
    for name in words.names where !name.hasPrefix("$") {
      if mayMove(name, &seen) { return true }
    }
    return false
  }

  private static func reason(against field: Describe.Field) -> String? {
    if usersFields.contains(field.name.lowercased()) { return "has a value for each user" }
    if field.isEncrypted || field.type == "encryptedstring" {
      return "is encrypted, and may be masked"
    }
    return plainTypes.contains(field.type) ? nil : "has the type \(field.type)"
  }

  private mutating func reason(againstFormulaOf field: Describe.Field) -> String? {
    guard let formula = field.formula else { return "is calculated in a way that the org hides" }
    guard field.type != "currency" else { return "is a formula in a currency" }
    guard open.insert(field.name).inserted else { return "is a formula that reads itself" }
    defer { open.remove(field.name) }
    guard let words = FormulaWords(formula) else { return "is a formula that cannot be read" }
    if let function = words.functions.first(where: { !Self.functions.contains($0) }) {
      return "is a formula with the function \(function)"
    }
    for name in words.names {
      if name.contains("$") || name.contains(".") { return "is a formula that reads \(name)" }
      if let reason = reason(against: name) { return "is a formula: \(reason)" }
    }
    return nil
  }

  /// The types of stored values that are the same for all users.
  ///
  /// A compound value consists of fields that may be hidden separately.
  private static let plainTypes: Set = [
    "boolean", "combobox", "currency", "date", "datetime", "double", "email", "id", "int", "long",
    "multipicklist", "percent", "phone", "picklist", "reference", "string", "textarea", "time",
    "url",
  ]

  /// Fields of a plain type that have a value for each user.
  private static let usersFields: Set = [
    "isreminderset", "lastreferenceddate", "lastvieweddate", "mayedit", "reminderdatetime",
  ]

  /// The functions of formulas that depend on their arguments alone.
  private static let functions: Set = [
    "ABS", "ADDMONTHS", "AND", "BEGINS", "BLANKVALUE", "CASE", "CEILING", "CONTAINS", "DATE",
    "DAY", "EXP", "FIND", "FLOOR", "IF", "INCLUDES", "ISBLANK", "ISNULL", "ISNUMBER",
    "ISPICKVAL", "LEFT", "LEN", "LN", "LOG", "LOWER", "LPAD", "MAX", "MCEILING", "MFLOOR", "MID",
    "MIN", "MOD", "MONTH", "NOT", "NULLVALUE", "OR", "RIGHT", "ROUND", "RPAD", "SQRT",
    "SUBSTITUTE", "TRIM", "TRUNC", "UPPER", "VALUE", "WEEKDAY", "YEAR",
  ]
}
