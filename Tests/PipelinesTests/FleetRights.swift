import LocalOrg
import TestSupport

/// What the users of a fleet may read, and what the formula field of their contacts reads.
struct FleetRights: Sendable {
  /// A formula may read the user, the user's settings, or a field that some users cannot read.
  private static let formulas = [
    "Phone & Fax", "Fax & Phone", "UPPER(Title)", "IF(BEGINS(Title, 'zq1'), Phone, Fax)",
    "$User.LastName & Phone", "$Setup.Fleet__c.Word__c & Phone",
  ]
  /// The profiles; users of the second cannot read faxes.
  private static let profiles = ["Field Technician", "Blind", "Standard User"]

  private let users: [String]
  private var formula: String
  /// The number of each user's profile.
  private var profile: [Int]
  /// The users with a permission set.
  private var (faxes, secrets): (Set<String>, Set<String>)
  /// Each user's word in a custom setting.
  private var settings: [String]
  /// The profiles whose users do not see some contacts of others, by the last digit of the phone.
  private var restricted: [Int: Int]

  init(of users: [String], _ random: inout HistoryRandom) {
    self.users = users
    formula = random.pick(Self.formulas)
    profile = users.map { _ in random.below(Self.profiles.count) }
    faxes = Set(users.filter { _ in random.chance(20) })
    secrets = Set(users.filter { _ in random.chance(40) })
    settings = users.indices.map { FleetScene.word(100 + $0) }
    restricted = [1: random.below(10)]
  }

  /// Changes one of the rights.
  mutating func change(_ random: inout HistoryRandom) {
    switch random.below(3) {
    case 0: restricted[random.below(Self.profiles.count)] = random.below(10)
    case 1: profile[random.below(users.count)] = random.below(Self.profiles.count)
    default: faxes.formSymmetricDifference(some(&random))
    }
  }

  /// Changes values of records but not the dates of the records.
  ///
  /// A formula that was `used` does not come back.
  mutating func changeValues(
    _ random: inout HistoryRandom, used: inout Set<String>, words: inout Int
  ) {
    let formulas = Self.formulas.filter { $0 != formula && !used.contains($0) }
    switch random.below(4) {
    case 0: secrets.formSymmetricDifference(some(&random))
    case 1:
      for index in users.indices where random.chance(50) {
        words += 1
        settings[index] = FleetScene.word(words)
      }
    default:
      used.insert(formula)
      if !formulas.isEmpty { formula = random.pick(formulas) }
    }
  }

  private func some(_ random: inout HistoryRandom) -> Set<String> {
    Set(users.filter { _ in random.chance(30) })
  }

  /// The file of the org's setup.
  var text: String {
    func list(_ names: some Sequence<String>) -> String {
      names.map { "\"\($0)\"" }.joined(separator: ",")
    }
    let words = zip(users, settings).map { "\"\($0)\": \"\($1)\"" }.joined(separator: ",")
    let rules = restricted.sorted { $0.key < $1.key }.map { number, digit in
      #"""
      {"name": "Some\#(number)", "userCriteria": "$Profile.Name = '\#(Self.profiles[number])'",
       "recordFilter": "RIGHT(Phone, 3) <> '\#(digit)zq' || OwnerId = $User.Id"}
      """#
    }
    let profiles = Self.profiles.indices.map { number in
      let members = users.indices.filter { profile[$0] == number }.map { users[$0] }
      let fields = number == 1 ? #", "objects": {"Contact": {"fields": {"Fax": "none"}}}"# : ""
      return #"{"name": "\#(Self.profiles[number])", "users": [\#(list(members))]\#(fields)}"#
    }
    return #"""
      {"customSettings": {"Fleet__c": {"Word__c": {"users": {\#(words)}}}},
       "objects": {"Contact": {
         "fields": {"Tag__c": {"type": "string", "formula": "\#(formula)"},
           "Mark__c": {"type": "string", "formula": "$User.LastName & LastName"},
           "Secret__c": {"type": "encryptedstring", "length": 40}},
         "restrictionRules": [\#(rules.joined(separator: ","))]}},
       "profiles": [\#(profiles.joined(separator: ","))],
       "permissionSets": [
         {"name": "Fax", "users": [\#(list(faxes.sorted()))],
           "objects": {"Contact": {"fields": {"Fax": "read"}}}},
         {"name": "Secrets", "users": [\#(list(secrets.sorted()))], "viewEncryptedData": true}]}
      """#
  }
}
