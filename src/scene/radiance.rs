//! Stencil values of the thermal camera, from temperature and emissivity.

/// A class of objects of one temperature.
#[derive(Clone, Debug, PartialEq)]
pub struct RadianceClass {
    /// Part of the names of the objects.
    pub name: String,
    /// Temperature in K.
    pub temperature: f64,
    /// Emissivity, 0 to 1.
    pub emissivity: f64,
    /// Whether the name is of an actor; otherwise it is of a mesh component.
    pub actor: bool,
}

/// The classes of the vendor's SDK: name, temperature in K, emissivity, whether the name is of an actor.
///
/// Source: vendor SDK, golden `ue4_send`, `radiance_all`.
#[rustfmt::skip] // a table
pub const RADIANCE_CLASSES: [(&str, f64, f64, bool); 22] = [
    ("Floor", 276.0, 0.96, true), ("SK_Man_Arms", 309.0, 0.98, false), ("SK_Man_Head", 309.0, 0.98, false),
    ("SK_Man_Bag", 278.0, 0.98, false), ("SK_Man_Cloth_Face", 300.0, 0.98, false),
    ("SK_Man_Jacket", 283.0, 0.98, false), ("SK_Man_Pants", 285.0, 0.98, false), ("SK_Man_Shoes", 285.0, 0.98, false),
    ("Copter", 310.0, 0.98, true), ("Cube", 273.0, 0.98, true), ("tree", 293.0, 0.952, true),
    ("House", 295.0, 0.85, true), ("BodyMesh_1", 297.0, 0.98, false), ("Rotor", 285.0, 0.95, false),
    ("Road", 293.0, 0.90, true), ("Birch", 293.0, 0.952, true), ("Door", 276.0, 0.96, false),
    ("Chimney", 310.0, 0.98, true), ("Wall", 293.0, 0.952, true), ("Hedge", 293.0, 0.952, true),
    ("Fence", 295.0, 0.85, true), ("Fir", 293.0, 0.952, true),
];

impl RadianceClass {
    /// Returns [`RADIANCE_CLASSES`].
    #[cfg(has_rfly_bridge_msgs)]
    pub(super) fn vendor_classes() -> Vec<Self> {
        let class = |(name, temperature, emissivity, actor): (&str, f64, f64, bool)| Self {
            name: name.to_owned(),
            temperature,
            emissivity,
            actor,
        };
        RADIANCE_CLASSES.into_iter().map(class).collect()
    }

    /// Returns the console command that sets the stencil value of the class.
    pub fn command(&self, value: u8) -> String {
        let by = if self.actor { "Actor" } else { "MeshComponent" };
        format!("RflySetStencilValueBy{by}Name [\\w]*{}[\\w]* {value} True", self.name)
    }

    /// Returns the radiance from 8 to 14 um in W/(m2 sr), of a grey body.
    fn radiance(&self) -> f64 {
        const STEP: f64 = 0.01;
        let spectral = |i: u16| {
            let length = 8.0 + STEP * f64::from(i);
            1.191_04e8 / (length.powi(5) * ((1.438_79e4 / (length * self.temperature)).exp() - 1.0))
        };
        // Trapezoids between 600 samples, the last of which is below 14 um.
        let trapezoids = (0..599).map(|i| (spectral(i) + spectral(i + 1)) / 2.0 * STEP);
        self.emissivity * trapezoids.sum::<f64>()
    }
}

/// Returns the stencil value of each class: 255 for the one that radiates most, the others in proportion, truncated.
pub fn stencil_values(classes: &[RadianceClass]) -> Vec<u8> {
    let all: Vec<f64> = classes.iter().map(RadianceClass::radiance).collect();
    let max = all.iter().copied().fold(0.0, f64::max);
    all.iter().map(|radiance| (255.0 * radiance / max) as u8).collect()
}
