import JSON

/// A sync down of a page layout.
public struct LayoutTarget: ConfiguredDownKind {
  /// The screen that a layout is for.
  public enum FormFactor: String, Sendable, Hashable, CaseIterable {
    /// A desktop.
    case large = "Large"
    /// A tablet.
    case medium = "Medium"
    /// A phone.
    case small = "Small"
  }

  /// How much of a record a layout shows.
  public enum LayoutType: String, Sendable, Hashable, CaseIterable {
    /// The fields of the highlights panel.
    case compact = "Compact"
    /// All fields.
    case full = "Full"
  }

  /// The purpose of a layout.
  public enum Mode: String, Sendable, Hashable, CaseIterable {
    /// Creating a record.
    case create = "Create"
    /// Editing a record.
    case edit = "Edit"
    /// Viewing a record.
    case view = "View"
  }

  /// The object type.
  public var sobjectType: String
  /// The form factor; nil uses the org's default.
  public var formFactor: FormFactor?
  /// How much of a record is shown.
  public var layoutType: LayoutType
  /// The purpose of the layout; nil uses the org's default.
  public var mode: Mode?
  /// The record type; nil for the user's default.
  public var recordTypeId: String?
  /// The field names and classes common to all targets.
  public var fields: TargetFields

  /// Creates a target.
  public init(
    sobjectType: String, formFactor: FormFactor? = nil, layoutType: LayoutType,
    mode: Mode? = nil, recordTypeId: String? = nil, fields: TargetFields = TargetFields()
  ) {
    self.sobjectType = sobjectType
    self.formFactor = formFactor
    self.layoutType = layoutType
    self.mode = mode
    self.recordTypeId = recordTypeId
    self.fields = fields
  }

  static let type = "layout"
  static let keys = ["sobjectType", "formFactor", "layoutType", "mode", "recordTypeId"]

  init?(_ object: ConfigurationObject) {
    let type = object.objectName("sobjectType")
    let layout = object.required("layoutType", "\"Full\"").flatMap {
      object.reader.word($0, "a layout type", as: LayoutType.self)
    }
    let form = object["formFactor"].flatMap {
      object.reader.word($0, "a form factor", as: FormFactor.self)
    }
    let mode = object["mode"].flatMap { object.reader.word($0, "a mode", as: Mode.self) }
    guard let type, let layout else { return nil }
    self.init(
      sobjectType: type, formFactor: form, layoutType: layout, mode: mode,
      recordTypeId: object.string("recordTypeId"), fields: TargetFields(object))
  }

  package var json: JSONValue {
    fields.json(
      type: Self.type,
      [
        ("sobjectType", .string(sobjectType)),
        ("formFactor", formFactor.map { .string($0.rawValue) }),
        ("layoutType", .string(layoutType.rawValue)), ("mode", mode.map { .string($0.rawValue) }),
        ("recordTypeId", recordTypeId.map(JSONValue.string)),
      ])
  }
}
