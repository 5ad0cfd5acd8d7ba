import JSON
import LocalOrg
import Testing

@Suite struct GroupedQueryTests {
  private func sample() throws -> SampleOrg {
    let sample = try SampleOrg()
    for (site, staff) in [("a", 1), ("a", 2), ("b", 5), ("c", 9), ("c", 1)] {
      try sample.make(
        "Account", ["Name": "x", "Site": .string(site), "NumberOfEmployees": JSONValue(staff)])
    }
    return sample
  }

  @Test(
    arguments: [
      "SELECT Site FROM Account GROUP BY Site HAVING COUNT(Id) > 1": ["a", "c"],
      "SELECT Site FROM Account GROUP BY Site HAVING SUM(NumberOfEmployees) >= 5": ["b", "c"],
      "SELECT Site FROM Account GROUP BY Site HAVING NOT (COUNT(Id) > 1 AND Site = 'a')": [
        "b", "c",
      ],
      "SELECT Site, SUM(NumberOfEmployees) staff FROM Account GROUP BY Site ORDER BY "
        + "SUM(NumberOfEmployees) DESC": ["c", "b", "a"],
      "SELECT Site FROM Account GROUP BY Site ORDER BY COUNT(Id), Site DESC": ["b", "c", "a"],
      "SELECT Site FROM Account GROUP BY Site ORDER BY Site DESC LIMIT 1 OFFSET 1": ["b"],
    ] as [String: [String]])
  func `groups are filtered and sorted by their values`(soql: String, sites: [String]) throws {
    #expect(try sample().column(soql, "Site") == sites)
  }

  @Test func `an alias names a column, and columns without one are numbered`() throws {
    let record = try #require(
      try sample().records(
        "SELECT Site s, COUNT(Id), MAX(NumberOfEmployees) most, AVG(NumberOfEmployees) FROM "
          + "Account GROUP BY Site ORDER BY most"
      ).first)
    #expect(record.object?.names == ["attributes", "s", "expr0", "most", "expr1"])
    #expect(record["s"] == "a" && record["most"]?.int == 2 && record["expr1"]?.double == 1.5)
  }

  @Test(arguments: [
    ("CALENDAR_YEAR", "2023"), ("CALENDAR_MONTH", "11"), ("CALENDAR_QUARTER", "4"),
    ("DAY_IN_MONTH", "14"), ("DAY_IN_WEEK", "3"), ("DAY_IN_YEAR", "318"),
    ("DAY_ONLY", "2023-11-14"), ("HOUR_IN_DAY", "22"), ("WEEK_IN_MONTH", "2"),
    ("WEEK_IN_YEAR", "46"), ("FISCAL_YEAR", "2023"),
  ])
  func `records are grouped by a part of a date`(function: String, value: String) throws {
    let sample = try sample()
    for argument in ["CreatedDate", "convertTimezone(CreatedDate)"] {
      let records = try sample.records(
        "SELECT \(function)(\(argument)) part, COUNT(Id) n FROM Account "
          + "GROUP BY \(function)(\(argument))")
      #expect(records.count == 1)
      #expect(records[0]["part"]?.string ?? records[0]["part"]?.text == value)
      #expect(records[0]["n"]?.int == 5)
    }
    let named = function == "DAY_ONLY" ? value : value
    #expect(
      try sample.records("SELECT Id FROM Account WHERE \(function)(CreatedDate) = \(named)").count
        == 5)
  }

  @Test(arguments: [
    "SELECT COUNT(Id) FROM Account GROUP BY CreatedDate": "can not be grouped",
    "SELECT Id FROM Account WHERE COUNT(Id) > 1": "Only HAVING",
    "SELECT Id FROM Account ORDER BY COUNT(Id)": "can not be sorted",
    "SELECT CALENDAR_YEAR(CreatedDate) FROM Account": "must be grouped by",
    "SELECT CALENDAR_YEAR(Name), COUNT(Id) FROM Account GROUP BY CALENDAR_YEAR(Name)":
      "does not support",
    "SELECT SUM(Name) FROM Account": "does not support aggregate operator SUM",
    "SELECT Name, COUNT(Id) FROM Account GROUP BY Site": "must be grouped or aggregated",
  ])
  func `an unsupported grouping or comparison is refused`(soql: String, words: String) throws {
    let sample = try sample()
    let error = #expect(throws: OrgError.self) { try sample.records(soql) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `TYPEOF selects by the kind of a parent`() throws {
    let sample = try SampleOrg()
    let account = try sample.make("Account", ["Name": "A", "Phone": "1"])
    let other = try sample.make("Case", ["Subject": "S"])
    let order = try sample.make("WorkOrder", ["Subject": "W"])
    for (name, parent) in [("1", account), ("2", other), ("3", order)] {
      try sample.make("Task", ["Subject": .string(name), "WhatId": .string(parent)])
    }
    try sample.make("Task", ["Subject": "4"])
    let soql =
      "SELECT Subject, TYPEOF What WHEN Account THEN Name, Phone WHEN Case THEN Subject %END "
      + "FROM Task ORDER BY Subject"
    let plain = try sample.records(soql.replacing("%", with: ""))
    #expect(plain[0]["What"]?["Phone"] == "1" && plain[0]["What"]?["Name"] == "A")
    #expect(plain[0]["What"]?["attributes"]?["type"] == "Account")
    #expect(plain[1]["What"]?["Subject"] == "S" && plain[1]["What"]?["Phone"] == nil)
    #expect(plain[2]["What"] == .null && plain[3]["What"] == .null)
    let rest = try sample.records(soql.replacing("%", with: "ELSE Name "))
    #expect(rest[2]["What"]?["Name"]?.string != nil)
    #expect(rest[3]["What"] == .null)
    #expect(throws: OrgError.self) {
      try sample.records("SELECT TYPEOF Account WHEN Account THEN Name END FROM Contact")
    }
    #expect(throws: OrgError.self) {
      try sample.records("SELECT TYPEOF What WHEN Contact THEN Name END FROM Task")
    }
  }
}
