/// The words of generated records.
enum SeedWords {
  static let firstNames = [
    "Ada", "Ben", "Cleo", "Dara", "Emil", "Fern", "Gus", "Hana", "Ivo", "Juno", "Kai", "Lena",
    "Milo", "Nora", "Otto", "Pia", "Quin", "Rosa", "Sven", "Tara", "Uma", "Viggo", "Wren", "Yara",
  ]
  static let lastNames = [
    "Alder", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Ginkgo", "Hazel", "Ironwood", "Juniper",
    "Kapok", "Larch", "Maple", "Nettle", "Oak", "Poplar", "Quince", "Rowan", "Spruce", "Teak",
    "Umber", "Vine", "Willow", "Yew",
  ]
  static let colours = [
    "Amber", "Blue", "Copper", "Dusky", "Ember", "Frosted", "Golden", "Hollow", "Ivory", "Jade",
    "Quiet", "Lunar", "Misty", "Northern", "Opal", "Paper", "Silver", "Rusty", "Stone", "Velvet",
  ]
  static let animals = [
    "Badger", "Crane", "Dormouse", "Egret", "Ferret", "Gannet", "Heron", "Ibis", "Jackdaw",
    "Kestrel",
    "Lynx", "Marten", "Newt", "Otter", "Puffin", "Quail", "Raven", "Stoat", "Tern", "Vole",
  ]
  static let trades = [
    "Bakery", "Boatyard", "Brewery", "Dairy", "Forge", "Greenhouse", "Laundry", "Mill", "Orchard",
    "Press", "Quarry", "Sawmill", "Tannery", "Warehouse", "Waterworks", "Windpark",
  ]
  static let towns = [
    ("Ashford Cross", "North"), ("Brackwater", "East"), ("Coldharbour", "South"),
    ("Dunmarsh", "West"), ("Elmstead", "North"), ("Fairhollow", "East"), ("Greyford", "South"),
    ("Highmoor", "West"),
  ]
  static let streets = ["Canal Street", "Mill Lane", "Station Road", "Harbour Row", "Orchard Way"]
  static let titles = ["Site Manager", "Plant Engineer", "Facility Lead", "Buyer", "Shift Lead"]
  static let machines = [
    "pump", "boiler", "conveyor", "chiller", "compressor", "generator", "gate drive", "mixer",
  ]
  static let troubles = [
    "leaks at the seal", "stops after ten minutes", "runs hot", "makes a grinding noise",
    "shows error 17", "does not start", "loses pressure", "trips the breaker",
  ]
  static let jobs = ["Inspect", "Repair", "Replace", "Calibrate", "Clean", "Commission"]
  static let parts = [
    "Seal Kit", "Bearing", "Filter", "Drive Belt", "Valve", "Sensor", "Relay", "Gasket", "Impeller",
    "Control Board",
  ]
  static let notes = [
    "Access through the yard; ask at the gate.", "Spare key with the shift lead.",
    "Bring the long ladder.", "Ear protection is required in the hall.",
    "Line 2 may be stopped between 06:00 and 07:30.",
    "The \"old\" panel is behind the door; 3\" bolts.",
    "Customer prefers a call before arrival.", "Façade lift out of order, use the stairs.",
  ]
  static let equipment = ["Ladder", "Multimeter", "Torque wrench", "Thermal camera", "Hoist"]
}
