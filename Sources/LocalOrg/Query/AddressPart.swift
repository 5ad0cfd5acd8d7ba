/// A part of a compound address, in column order.
enum AddressPart: String, CaseIterable {
  case city, country, geocodeAccuracy, latitude, longitude, postalCode, state, street

  /// The suffix of the part's field name.
  var suffix: String {
    switch self {
    case .city: "City"
    case .country: "Country"
    case .geocodeAccuracy: "GeocodeAccuracy"
    case .latitude: "Latitude"
    case .longitude: "Longitude"
    case .postalCode: "PostalCode"
    case .state: "State"
    case .street: "Street"
    }
  }
}
