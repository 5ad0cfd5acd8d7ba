/// Pipeline files that are broken as text, or in their keys and values.
extension BrokenConfiguration {
  static let text =
    [
      BrokenConfiguration(
        "a file that is not UTF-8",
        "pipeline.json:1:2: the file is not UTF-8 from here on; save it as UTF-8",
        .bytes(.pipeline, [0x7B, 0xFF]))
    ]
    + cases(
      #"""
      an empty file
        pipeline.json:1:1: the file is empty; write an object in braces
        pipeline =
      a file that is not an object
        pipeline.json:1:1: this must be an object, not an array; write a pipeline file in braces: { … }
        pipeline = []
      a trailing comma
        pipeline.json:23:25: there is a comma before the closing }; remove the comma
        pipeline: "platforms": ["ios"],\n  "limits": {"jobs": 60} => "platforms": ["ios"],\n  "limits": {"jobs": 60},
      a comment
        pipeline.json:2:16: JSON has no comments; remove the comment
        pipeline: "format": 1, => "format": 1, // the first
      single quotes
        pipeline.json:3:11: JSON has no single quotes (' and '); write "first"
        pipeline: "name": "first" => "name": 'first'
      a name without quotes
        pipeline.json:3:3: this name has no quotes; write "name"
        pipeline: "name": "first" => name: "first"
      a text without quotes
        pipeline.json:22:17: this text has no quotes; write "ios"
        pipeline: ["ios"] => [ios]
      a missing comma
        pipeline.json:2:14: a comma is missing after this value; write a comma
        pipeline: "format": 1, => "format": 1
      a missing colon
        pipeline.json:2:11: a colon is missing after "format"; write a colon
        pipeline: "format": 1 => "format" 1
      a missing bracket
        pipeline.json:23:11: ":" is not allowed here; write a comma, or ] to close the array that opens at line 22
        pipeline: ["ios"] => ["ios"
      a key that is there twice
        pipeline.json:2:16: "format" appears twice in one object; keep one of them; the other is on line 2
        pipeline: "format": 1, => "format": 1, "format": 1,
      a word that JSON writes in small letters
        pipeline.json:22:39: True is not a JSON word; write true
        pipeline: "platforms" => "reconcile": {"conditionalUpdates": True},\n  "platforms"
      a no-break space
        pipeline.json:3:10: U+00A0 is not white space in JSON; write an ordinary space
        pipeline: "name": "first" => "name": "first"
      something after the end
        pipeline.json:24:2: data follows the end of the file's object; remove it
        pipeline: "limits": {"jobs": 60}\n} => "limits": {"jobs": 60}\n}}
      a string that is not closed
        pipeline.json:3:11: the string opened here is not closed on its line; write " at its end; a string cannot contain a line break
        pipeline: "name": "first", => "name": "first,
      an unknown key
        pipeline.json:22:3: platform: a pipeline file has no key "platform"; did you mean "platforms"?
        pipeline: "platforms" => "platform"
      a key without a near match
        pipeline.json:23:3: zzz: a pipeline file has no key "zzz"; remove it; the keys are "format", "name", "org", "users", "stores", "platforms", "prime", "pack", "inbox", "reconcile", "report", "notify", "keep", "limits"
        pipeline: "limits" => "zzz": 1, "limits"
      a number in quotes
        pipeline.json:23:22: limits.jobs: this must be a whole number, not a string; write 60 without quotes
        pipeline: "jobs": 60 => "jobs": "60"
      a number out of range
        pipeline.json:23:22: limits.jobs: 0 is out of range; write a whole number of at least 1 and at most 1024
        pipeline: "jobs": 60 => "jobs": 0
      a format that is newer
        pipeline.json:2:13: format: format 2 is newer than this attache supports (1); install a newer attache
        pipeline: "format": 1 => "format": 2
      no format
        pipeline.json:1:1: a pipeline file needs "format"; add "format": 1
        pipeline -   "format": 1,\n
      a name that cannot name a directory
        pipeline.json:3:11: name: "First Line" is not a directory name: use a to z, 0 to 9 and -, at most 40; write "first-line"
        pipeline: "first" => "First Line"
      an unknown platform
        pipeline.json:22:17: platforms[0]: "iOS" is not a platform; did you mean "ios"? It is one of "ios", "android"
        pipeline: ["ios"] => ["iOS"]
      a platform that is there twice
        pipeline.json:22:24: platforms[1]: "ios" is listed twice; remove one
        pipeline: ["ios"] => ["ios", "ios"]
      a percentage that is a number
        pipeline.json:23:38: prime.ghosts.maxDeletes: this must be a percentage, not a number; write "10%"
        pipeline + "prime": {"ghosts": {"maxDeletes": 10}}
      a share that is none
        pipeline.json:23:43: reconcile.maxChanges.deletes: "110%" must be from 0% to 100%; write "10%"
        pipeline + "reconcile": {"maxChanges": {"deletes": "110%"}}
      a flag in quotes
        pipeline.json:23:39: reconcile.conditionalUpdates: this must be true or false, not a string; write true without quotes
        pipeline + "reconcile": {"conditionalUpdates": "true"}
      a merge word that is not known
        pipeline.json:23:36: reconcile.recreateDeleted: "always" is not a policy for deleted records; write one of "whenProvedDeleted", "never", "asSDK"
        pipeline + "reconcile": {"recreateDeleted": "always"}
      a former key with a former value
        pipeline.json:23:17: reconcile.acrossSnapshots: the section reconcile has no key "acrossSnapshots"; write "deviceConflicts": "firstWins"
        pipeline + "reconcile": {"acrossSnapshots": "first"}
      a former value
        pipeline.json:23:36: reconcile.deviceConflicts: "report" is not a value of "deviceConflicts"; write "manual"
        pipeline + "reconcile": {"deviceConflicts": "report"}
      former keys
        pipeline.json:23:17: reconcile.strict: the section reconcile has no key "strict"; write "conditionalUpdates"
        pipeline.json:23:33: reconcile.nextGeneration: the section reconcile has no key "nextGeneration"; write "returnOpenEdits"
        pipeline.json:23:58: reconcile.trust: the section reconcile has no key "trust"; write "detectEdits": "compare"
        pipeline.json:24:5: reconcile.quietWindowSeconds: the section reconcile has no key "quietWindowSeconds"; write "unansweredWaitSeconds"
        pipeline.json:25:12: keep.basesDays: the section keep has no key "basesDays"; write "issuedRecordDays"
        pipeline + "reconcile": {"strict": true, "nextGeneration": false, "trust": "diff",\n    "quietWindowSeconds": 900},\n  "keep": {"basesDays": 30}
      an inbox outside
        pipeline.json:23:21: inbox.path: "../inbox" is outside the pipeline's directory; write a name below snapshots/, or an absolute path
        pipeline + "inbox": {"path": "../inbox"}
      """#)
}
