//! Parameters of a simulator as data, for tables and files.

use serde::Serialize;

/// Parameters by name, as JSON has them.
pub type Settings = serde_json::Value;

/// Parameters by the names of their fields. A number that is not finite is `null`.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Parameters {
///     gravity: [f64; 3],
///     limit: f64,
/// }
/// let parameters = Parameters { gravity: [0.0, -9.81, 0.0], limit: f64::INFINITY };
/// let settings = partita_simulator::settings_of(&parameters);
/// assert_eq!(settings.to_string(), r#"{"gravity":[0.0,-9.81,0.0],"limit":null}"#);
/// ```
pub fn settings_of(parameters: &impl Serialize) -> Settings {
    // Maps with keys that are no strings have no JSON.
    serde_json::to_value(parameters).unwrap_or_default()
}
