import JSON
import Ledger
import MobileSync
import Salesforce

// The members of `PlannedSend.Contents`, where what they are is said.
extension PlannedSend {
  var edit: OpenEdit {
    get { contents.edit }
    set { contents.edit = newValue }
  }
  var device: Int64 {
    get { contents.device }
    set { contents.device = newValue }
  }
  var sync: Int {
    get { contents.sync }
    set { contents.sync = newValue }
  }
  var modificationField: String {
    get { contents.modificationField }
    set { contents.modificationField = newValue }
  }
  var sobject: String {
    get { contents.sobject }
    set { contents.sobject = newValue }
  }
  var expected: Settlement {
    _read { yield contents.expected }
    _modify { yield &contents.expected }
  }
  var condition: String? {
    get { contents.condition }
    set { contents.condition = newValue }
  }
  var isStrict: Bool {
    get { contents.isStrict }
    set { contents.isStrict = newValue }
  }
  var payload: JSONObject {
    _read { yield contents.payload }
    _modify { yield &contents.payload }
  }
  var isCompleted: Bool {
    get { contents.isCompleted }
    set { contents.isCompleted = newValue }
  }
  var recordID: String? {
    get { contents.recordID }
    set { contents.recordID = newValue }
  }
  var externalField: String? {
    get { contents.externalField }
    set { contents.externalField = newValue }
  }
  var externalValue: String? {
    get { contents.externalValue }
    set { contents.externalValue = newValue }
  }
  var seen: JSONValue? {
    get { contents.seen }
    set { contents.seen = newValue }
  }
  var needs: Set<Int64> {
    _read { yield contents.needs }
    _modify { yield &contents.needs }
  }
  var waiting: Set<String> {
    _read { yield contents.waiting }
    _modify { yield &contents.waiting }
  }
  var floor: Int {
    get { contents.floor }
    set { contents.floor = newValue }
  }
  var parents: Set<String> {
    _read { yield contents.parents }
    _modify { yield &contents.parents }
  }
  var tree: Tree? {
    _read { yield contents.tree }
    _modify { yield &contents.tree }
  }
  var followers: [OpenEdit] {
    _read { yield contents.followers }
    _modify { yield &contents.followers }
  }
  var isAlone: Bool {
    get { contents.isAlone }
    set { contents.isAlone = newValue }
  }
  var level: Int {
    get { contents.level }
    set { contents.level = newValue }
  }
  var operationID: Int64 {
    get { contents.operationID }
    set { contents.operationID = newValue }
  }
}
