/// The objects in which the org describes itself.
enum SetupObjects {
  static var all: [ObjectSchema] {
    [
      organization, user, group, profile, recordType, briefcase, briefcaseRule, briefcaseAssignment,
      tab,
    ]
  }

  private static let organization = ObjectSchema(
    "Organization", label: "Organization", plural: "Organizations", prefix: "00D",
    sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 80).required.naming,
      .text("OrganizationType", "Edition", 40),
      .flag("IsSandbox", "Is Sandbox").readOnly,
      .text("InstanceName", "Instance Name", 5),
      .text("NamespacePrefix", "Namespace Prefix", 15),
      .kind(.datetime, "TrialExpirationDate", "Trial Expiration Date"),
      .text("LanguageLocaleKey", "Language", 40),
      .text("TimeZoneSidKey", "Time Zone", 40),
    ] + FieldSchema.audit)

  private static let user = ObjectSchema(
    "User", label: "User", plural: "Users", prefix: "005", sharing: .publicRead,
    fields: FieldSchema.identity + [
      FieldSchema.text("Username", "Username", 80).required.uniqueLookup,
      .text("LastName", "Last Name", 80).required,
      .text("FirstName", "First Name", 40),
      userName,
      .kind(.email, "Email", "Email", 128).required,
      .text("Alias", "Alias", 8),
      .text("Title", "Title", 80),
      .kind(.phone, "Phone", "Phone", 40),
      .flag("IsActive", "Active", true),
      FieldSchema.lookup("ProfileId", "Profile ID", ["Profile"], "Profile", children: "Users")
        .required,
      .text("UserType", "User Type", 40),
      .text("TimeZoneSidKey", "Time Zone", 40),
      .text("LocaleSidKey", "Locale", 40),
      .text("LanguageLocaleKey", "Language", 40),
    ] + FieldSchema.audit)

  /// Queues and public groups; the org has none unless a user creates one.
  private static let group = ObjectSchema(
    "Group", label: "Group", plural: "Groups", prefix: "00G", sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 40).required.naming,
      .text("DeveloperName", "Developer Name", 80),
      .text("Type", "Type", 40),
      .kind(.email, "Email", "Email", 255),
    ] + FieldSchema.audit)

  private static let userName: FieldSchema = {
    var field = FieldSchema.text("Name", "Full Name", 121).readOnly.naming
    field.nillable = false
    return field
  }()

  private static let profile = ObjectSchema(
    "Profile", label: "Profile", plural: "Profiles", prefix: "00e", sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 255).required.naming,
      .flag("PermissionsViewAllData", "View All Data"),
      .flag("PermissionsModifyAllData", "Modify All Data"),
      .text("Description", "Description", 255),
    ] + FieldSchema.audit)

  private static let recordType = ObjectSchema(
    "RecordType", label: "Record Type", plural: "Record Types", prefix: "012",
    sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 80).required.naming,
      .text("DeveloperName", "Record Type Name", 80),
      .text("SobjectType", "SObject Type Name", 40),
      .text("Description", "Description", 255),
      .flag("IsActive", "Active", true),
    ] + FieldSchema.audit)

  /// No object has a tab: clients query them and find none.
  private static let tab = ObjectSchema(
    "TabDefinition", label: "Tab Definition", plural: "Tab Definitions", prefix: "01r",
    sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 80).naming,
      .text("Label", "Label", 80),
      .text("SobjectName", "Object Name", 40),
      .flag("IsCustom", "Custom"),
      .text("Url", "Url", 255),
    ] + FieldSchema.audit)

  private static let briefcase = ObjectSchema(
    "BriefcaseDefinition", label: "Briefcase Definition", plural: "Briefcase Definitions",
    prefix: "9Tu", sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("DeveloperName", "Name", 80).required.naming,
      .text("MasterLabel", "Label", 80),
      .text("Description", "Description", 255),
      .flag("IsActive", "Active", true),
    ] + FieldSchema.audit)

  private static let briefcaseRule = ObjectSchema(
    "BriefcaseRule", label: "Briefcase Rule", plural: "Briefcase Rules", prefix: "9Tw",
    sharing: .publicRead,
    fields: FieldSchema.identity + [
      FieldSchema.lookup(
        "BriefcaseId", "Briefcase Definition ID", ["BriefcaseDefinition"], "Briefcase",
        children: "BriefcaseRules"
      ).required,
      .text("TargetEntity", "Target Entity", 80).required,
      .choice("QueryScope", "Query Scope", ["everything", "mine"], default: "everything"),
      .kind(.textarea, "FilterCondition", "Filter Condition", 4000),
      .text("OrderBy", "Order By", 80),
      .flag("IsAscendingOrder", "Ascending", true),
      .whole("RecordLimit", "Record Limit", digits: 5),
      .lookup("ParentRuleId", "Parent Rule ID", ["BriefcaseRule"], "ParentRule"),
      .text("RelationshipField", "Relationship Field", 80),
    ] + FieldSchema.audit)

  private static let briefcaseAssignment = ObjectSchema(
    "BriefcaseAssignment", label: "Briefcase Assignment", plural: "Briefcase Assignments",
    prefix: "9Tv", sharing: .publicRead,
    fields: FieldSchema.identity + [
      FieldSchema.lookup(
        "BriefcaseId", "Briefcase Definition ID", ["BriefcaseDefinition"], "Briefcase",
        children: "BriefcaseAssignments"
      ).required,
      FieldSchema.lookup("UserOrGroupId", "User ID", ["User"], "UserOrGroup").required,
      .text("ConsumerKey", "Connected App", 255),
    ] + FieldSchema.audit)
}

extension FieldSchema {
  /// Unique and usable in an upsert, although it is not an external ID.
  var uniqueLookup: FieldSchema {
    var copy = self
    copy.unique = true
    copy.idLookup = true
    return copy
  }
}
