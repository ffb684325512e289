//! Values of arguments.

/// Parses a time in s. Errors: a text for the user.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok();
    let usable = value.filter(|value| (0.0..=86_400.0).contains(value));
    usable.ok_or_else(|| "must be a number from 0 to 86400".to_owned())
}
