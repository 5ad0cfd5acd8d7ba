/// The rows of all settings.
///
/// `[SETTING]` starts the rows of a setting. A line is the name of a row, and the indented lines
/// after it are its steps. The rows `everywhere` apply to all rows of their settings.
enum DecisionTable {
  static let rows =
    [records, limits, doubts, unanswered, mended("twice", "retry"), mended("retried", "")]
    .joined(separator: "\n").parsed

  private static let records = """
    [plain]
    the device's edit overwrites the values that were shown
      TWO; device > updated; is Phone=device Description=mine
    a field that only the org's users changed stays
      CONFLICT; office enters Website=office.example; retry > conflict; device > updated
      is Phone=device Website=office.example
    the org's values stay
      CONFLICT; server > discarded; is Phone=office
    a conflict is merged field by field
      TWO; set Phone=both > updated; is Phone=both Description=mine
    the device's value is sent if it is entered for a field that was emptied in the org
      CONFLICT; office enters Phone=; retry > conflict; set Phone=device rest server > updated
      no entered value is reported; is Phone=device
    if the rest stays as in the org, only the entered value is sent
      TWO; set Description=typed rest server > updated; is Phone=office Description=typed
    an empty value that is entered for an empty field is already in the org
      TWO; set Description= rest server > already in org; is Phone=office Description=
    values that changed after they were shown need a new decision
      CONFLICT; device; office enters Phone=1 > conflict; server; office enters Phone=2 > conflict
      set Phone=both; office enters Phone=3 > conflict; is Phone=3; device > updated; is Phone=device
    a value that was never shown is not overwritten
      CONFLICT; the report loses its values; device > conflict; is Phone=office; server > discarded
    a conflict is over if the org's users enter the device's value
      CONFLICT; office enters Phone=device; retry > already in org
    a deletion overrides a later change
      ada deletes; office enters Phone=office > conflict; device > deleted; is gone
    a deletion is discarded
      ada deletes; office enters Phone=office > conflict; refuses set; server > discarded
      is Phone=office
    one of two conflicting edits is sent, the other is discarded
      CONTRADICT; server; second device > discarded, updated; is Description=right
    two conflicting edits of different fields can both be sent
      ada edits Description=left; ben edits Website=right.example > device conflict, device conflict
      device; second device > updated, updated; is Description=left Website=right.example
    two conflicting edits of one field are not both sent
      CONTRADICT; device; second device > updated, conflict; is Description=left
      second set Description=both > updated, updated; is Description=both
    a device conflict is over if the other edit is discarded
      CONTRADICT; second server > device conflict, discarded; retry > updated, discarded; is Description=left
    a value of neither device is sent
      CONTRADICT; set Description=middle; second server > updated, discarded; is Description=middle
    of two copies of a new record, one is discarded and one is sent
      COPIES; discard > discarded, device conflict; second device > discarded, created; ONECOPY
    of two copies of a new record, one is discarded and one is retried
      COPIES; discard > discarded, device conflict; second retry > discarded, created; ONECOPY
    a deleted record is recreated
      DELETED; device > created; finds 1 Account WHERE Name = 'Row#' AND Phone = 'device'
    a deleted record stays deleted
      DELETED; server > discarded; finds 0 Account WHERE Name = 'Row#'
    recreating a record that has been restored needs a new decision
      DELETED; office restores; device > conflict; device > updated; is Phone=device
    keeping a record deleted needs a new decision if it has been restored
      DELETED; server; office restores > conflict; server > discarded; is Phone=555
    a restored record has a new date
      DELETED; office restores; retry > conflict; device > updated; is Phone=device
    an edit of a merged record is discarded
      MERGED; server > discarded; is Phone=555
    a record that was merged and restored has a new date
      MERGED; office restores; retry > conflict; device > updated; is Phone=device
    an edit of a merged record is applied to the merge survivor as shown
      MERGED; told Phone=555; device; office enters Phone=office > merged on server
      told Phone=office; device > updated; both IDs are reported; is Phone=device Website=row.example
    a decision about one merge survivor does not apply to another
      MERGED; set Phone=entered; office merges > merged on server; is Phone=555
      set Phone=entered > updated; is Phone=entered
    a hidden record that is shared again has a new date from its new owner
      EDIT; office hides it from ada > not visible; office shares it with ada; retry > conflict
      device > updated; is Phone=device
    an edit of a hidden record is discarded
      EDIT; office hides it from ada > not visible; discard > discarded; is Phone=555
    an edit of a hidden record is sent if the record is shared again
      ben edits Phone=device; office hides it from ben > not visible
      office shares it with ben; retry > updated; is Phone=device

    [merging]
    a conflict is over if the org's users undo their change
      CONFLICT; office enters Phone=555; retry > updated; is Phone=device
    an edit of a deleted record is sent after it was restored
      DELETED; office restores; retry > updated; is Phone=device
    an edit of a merged record is sent after it was restored
      MERGED; office restores; retry > updated; is Phone=device

    [unlisted]
    an edit of a field that is no longer sent needs a new decision
      CONFLICT; device > conflict; UNSENT; device > conflict; device > updated; is Phone=device
    a value for a field that is no longer sent needs a new decision
      CONFLICT; set Phone=boss > conflict; UNSENT; device > conflict
      set Phone=boss > updated; is Phone=boss
    an edit whose only field is no longer listed is not in the field list
      CONFLICT; device > conflict; UNSENT; retry > not in field list; is Phone=office
    everywhere
      >; the list loses Phone >; >; the list has Phone again
    """

  private static let limits = """
    [plain]
    everywhere
      the org refuses Harbour >; the org accepts all names
    a refused edit and the edit that waits for it are sent after the rule is removed
      ada creates accounts Name=Harbour#; KEEL; retry; second retry > created, created
      finds 1 Contact WHERE LastName = 'Keel#' AND Account.Name = 'Harbour#'
    a refused create is retried, and discarded with the edit that waits for it
      PAIR; refuses server; second refuses device; retry > failed, blocked
      discard; second discard > discarded, discarded; finds 0 Contact WHERE LastName = 'Keel#'
    a refused create is sent with another value, and its child follows
      PAIR; set Name=Crane# > created, created; the entered name is reported
      finds 1 Contact WHERE LastName = 'Keel#' AND Account.Name = 'Crane#'
    a refused create is resolved by naming a record of the org
      PAIR; office makes Account Name=Office; record > already in org, created
      the record is reported; is Name=Office; OFTHERECORD
    a record that waits for a parent is sent with an existing parent
      PAIR; office makes Account Name=Office; second set AccountId=@ > failed, created
      OFTHERECORD; discard > discarded, created
    an edit that no sync up covers is discarded
      ORDER; refuses device; discard > discarded
    an edit is sent once a sync up covers it
      ORDER; > not configured; a sync up covers work orders; retry > created
      finds 1 WorkOrder WHERE Subject = 'Order#'

    [integration]
    an edit of a record that its user was not issued is allowed
      FOREIGN; device > created; OFTHERECORD
    an edit of a record that its user was not issued is discarded
      FOREIGN; discard > discarded; finds 0 Contact WHERE LastName = 'Keel#'
    an edit is sent once its user was issued the record
      FOREIGN; office shares it with ada; a generation is primed; retry > created; OFTHERECORD

    [guarded]
    an edit that was not attempted is sent alone
      EDIT > not attempted; device > updated; is Phone=device
    an edit that was not attempted is discarded
      EDIT > not attempted; > not attempted; discard > discarded
    the last edit that was not attempted is within the limit
      EDIT > not attempted; > not attempted; > updated; is Phone=device
    an edit that was not attempted is sent once the limit is raised
      ben edits Phone=device > not attempted; > not attempted; > not attempted; retry > updated; is Phone=device
    another such edit is sent once the limit is raised
      ben edits Phone=device > not attempted; > not attempted; > not attempted; retry > updated; is Phone=device
    an edit is sent once its user can log in again
      cleo edits Phone=device > not attempted; retry > updated; is Phone=device
    everywhere
      cleo cannot log in >; cleo can log in >; >; the limit is raised
    """

  private static let doubts = """
    [doubted]
    an unconfirmed create is resolved by naming a record
      DOUBT; BYRON > unconfirmed, blocked; refuses server; ISBYRON
    naming a record of another object needs a new decision
      DOUBT; > unconfirmed, blocked; record > unconfirmed, blocked; BYRON; ISBYRON
    an unconfirmed create is sent again
      DOUBT; BYRON > unconfirmed, blocked; device > created, created; ONELOVELACE
    an unconfirmed create is discarded
      DOUBT; BYRON > unconfirmed, blocked; discard; second discard > discarded, discarded
      finds 0 Contact WHERE LastName = 'Lovelace#'
    the rules resend an unconfirmed create after its window
      ben creates contacts LastName=Lovelace# > unconfirmed; retry > created; ONELOVELACE
    everywhere
      creates are lost twice >; a day passes >

    [twice]
    one record is named
      TWICE; refuses record; record ours > already in org; > already in org; > already in org; NEXT
    the other record is named
      TWICE; refuses record; record other > already in org; > already in org; > already in org; NEXT
    both records are kept
      ben creates contacts LastName=Lovelace# > unconfirmed; > created; > duplicate created; discard > discarded
    an entered value is not replaced by the old value on the device
      ENTERED; ada edits Phone=1 > updated, updated; is Title=Engineer Phone=1
    a later value of the device does not overwrite an entered value without a decision
      ENTERED; ada edits Title=Chief > updated, conflict; is Title=Engineer
      second device > updated, updated; is Title=Chief
    a later return replaces a decision about an earlier one
      CONFLICT; > conflict; > conflict; > conflict; > conflict; > conflict
      device; ada edits Phone=two > superseded, conflict; refuses device
      second device > superseded, updated; is Phone=two
    a decision is not needed if the device undid the edit
      CONFLICT; > conflict; > conflict; > conflict; > conflict; > conflict
      device; ada cleans > superseded; > superseded; is Phone=office
    everywhere
      creates arrive late twice >; the window passes >; late requests arrive >

    [retried]
    everywhere
      creates arrive late once >; the window passes >; late requests arrive >; runs retry >; >; >
      runs stop retrying
    """

  /// The org's users delete or merge one of the two records.
  private static func mended(_ setting: String, _ retry: String) -> String {
    ["ours", "other"].flatMap { lost in
      ["deletes", "merges"].map {
        """
        [\(setting)]
        the org's users remove one of two records: \($0) \(lost)
          TWICE; \(retry) > duplicate created; STILLTWO; \(retry) > duplicate created; STILLTWO
          office \($0) \(lost); \(retry) > unchanged; the record is reported; ONELOVELACE; COUNTESS

        """
      }
    }.joined()
  }

  private static let unanswered = """
    [late]
    everywhere
      updates and deletions arrive late >; late requests arrive
    an update arrives after it was sent again
      EDIT > unconfirmed; device > updated; is Phone=device
    an update arrives after it was retried
      EDIT > unconfirmed; retry > updated; is Phone=device
    an update arrives after it was discarded, and stays open until it is decided again
      EDIT > unconfirmed; discard > conflict; > conflict; server > discarded; is Phone=device
    a deletion arrives after it was sent again
      ada deletes > unconfirmed; device > deleted; is gone
    a deletion arrives after it was retried
      ada deletes > unconfirmed; retry > deleted; is gone
    a deletion arrives after it was discarded, and stays open until it is decided again
      ada deletes > unconfirmed; discard > conflict; > conflict; server > already in org; is gone

    [lost]
    everywhere
      updates and deletions arrive late >
    a lost update is sent again
      EDIT > unconfirmed; device > updated; is Phone=device
    a lost update is retried
      EDIT > unconfirmed; retry > updated; is Phone=device
    a lost update is discarded
      EDIT > unconfirmed; discard > discarded; is Phone=555
    a lost deletion is sent again
      ada deletes > unconfirmed; device > deleted; is gone
    a lost deletion is retried
      ada deletes > unconfirmed; retry > deleted; is gone
    a lost deletion is discarded
      ada deletes > unconfirmed; discard > discarded; is Phone=555
    sending an update over a later change needs a new decision
      EDIT > unconfirmed; office enters Phone=office; device > conflict; is Phone=office
      device > updated; is Phone=device
    retrying an update over a later change needs a new decision
      EDIT > unconfirmed; office enters Phone=office; retry > conflict; is Phone=office
      device > updated; is Phone=device
    """

  /// The steps that several rows share.
  static let shared = [
    "EDIT": "ada edits Phone=device",
    "CONFLICT": "ada edits Phone=device; office enters Phone=office > conflict",
    "TWO": "ada edits Phone=device Description=mine; office enters Phone=office > conflict",
    "CONTRADICT":
      "ada edits Description=left; ben edits Description=right > device conflict, device conflict",
    "COPIES": "cleo creates contacts LastName=Copied#; copy creates contacts LastName=Copied#; "
      + "cleo edits Title=left; copy edits Title=right > device conflict, device conflict",
    "ONECOPY": "finds 1 Contact WHERE LastName = 'Copied#'",
    "DELETED": "ada edits Phone=device; office deletes > deleted on server",
    "MERGED": "ada edits Phone=device; office merges > merged on server",
    "UNSENT": "is Phone=office; told Phone=office; the message says that no sync up sends Phone",
    "KEEL": "ada creates contacts LastName=Keel# AccountId=local_#_1 > failed, blocked",
    "PAIR": "ada creates accounts Name=LONG; "
      + "ada creates contacts LastName=Keel# AccountId=local_#_1 > failed, blocked",
    "OFTHERECORD": "finds 1 Contact WHERE LastName = 'Keel#' AND AccountId = '@'",
    "ORDER": "ada creates workorders Subject=Order# > not configured",
    "FOREIGN":
      "cleo owns it; ada creates contacts LastName=Keel# AccountId=@ > exceeds user access",
    "DOUBT": "ada creates contacts LastName=Lovelace#; "
      + "ada creates workorders Subject=Engine# ContactId=local_#_1 > unconfirmed, blocked",
    "BYRON": "office makes Contact LastName=Byron",
    "ISBYRON": "record > created, created; finds 0 Contact WHERE LastName = 'Lovelace#'; "
      + "finds 1 WorkOrder WHERE ContactId = '@'",
    "ONELOVELACE": "finds 1 Contact WHERE LastName = 'Lovelace#'",
    "TWICE":
      "ada creates contacts LastName=Lovelace# > unconfirmed; > created; > duplicate created",
    "STILLTWO": "the message says that both records exist; the run needs attention",
    "NEXT": "ada edits Title=Countess > already in org, updated; is Title=Countess",
    "COUNTESS": "ada edits Title=Countess > unchanged, updated; is Title=Countess",
    "ENTERED": "it is a contact; ada edits Title=LONG > failed; set Title=Engineer > updated; "
      + "> updated; > updated; > updated; > updated",
  ]
}

extension String {
  /// The rows of a table.
  fileprivate var parsed: [DecisionRow] {
    var (rows, setting): ([DecisionRow], DecisionRow.Setting) = ([], .plain)
    for line in split(separator: "\n") {
      if line.hasPrefix("[") {
        setting = .init(rawValue: String(line.dropFirst().dropLast())) ?? setting
      } else if !line.hasPrefix(" ") {
        rows.append(DecisionRow(setting: setting, name: String(line)))
      } else {
        rows[rows.count - 1].steps += line.steps
      }
    }
    return rows
  }
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
