//! Models to spawn: classes and styles of the renderer, by name or number.
use super::error::{Cause, SceneError};
use crate::{config::did_you_mean, wire::class_and_style};
use serde::Deserialize;
use std::ops::RangeInclusive;

/// Scheme of every resource of this simulator.
pub(super) const SCHEME: &str = "rflysim://";
/// Factors of the style in the vendor's documents and in numbers in use (docs/wire/traps.md, style-factor).
const FACTORS: [i32; 3] = [1000, 100_000, 1_000_000];
/// Classes that a style can be added to; a larger number is sent unchanged.
const CLASSES: RangeInclusive<i32> = 1..=999;
/// Styles of class + 1000 x style, which has 16 bits.
const STYLES: RangeInclusive<i32> = 0..=64;
/// Styles of class + 1000000 x style. Styles between the two ranges are ambiguous.
const NEWER_STYLES: RangeInclusive<i32> = 100..=2147;
/// Factors of the size.
const SCALES: RangeInclusive<f32> = 0.01..=655.0;
/// Keep-alive of an object in s.
const KEEP_ALIVE: RangeInclusive<f64> = 0.1..=86_400.0;

/// Category of an entity, with the numbers of `EntityCategory`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, strum::FromRepr)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Category {
    /// Unspecified.
    #[default]
    Object = 0,
    /// A drone.
    Robot = 1,
    /// A person.
    Human = 2,
    /// Any other moving object.
    DynamicObject = 4,
    /// An object that does not move.
    StaticObject = 5,
}

/// A named model of the renderer; also an entry of the user's file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SpawnableModel {
    /// Name, the word after `rflysim://`.
    pub name: String,
    /// Class id; above 999 the number of class and style that is sent.
    pub class: i32,
    /// Style: index in the renderer's list of the class.
    #[serde(default)]
    pub style: i32,
    /// Category.
    #[serde(default)]
    pub category: Category,
    /// Text for people.
    #[serde(default)]
    pub description: String,
    /// Length, width, height in m, if known.
    pub size: Option<[f64; 3]>,
}

/// The models of the renderer's own list: class, category, names in the order of their styles.
///
/// Source: vendor SDK 3.06, page `FullVersion3DModel`.
#[rustfmt::skip] // a table
const BUILT_IN: [(i32, Category, &[&str]); 11] = [
    (3, Category::Robot, &[
        "F450_Default", "Droneyee_QuadX330", "Droneyee_QuadX200", "DJI_Phantom_White", "DJI_Phantom_Red", "DJI_Phantom_Army",
        "AR_Drone_BlackGreen", "AR_Drone_Blue", "AR_Drone_Army", "Quad_Fold_Gray", "Quad_Fold_Army",
    ]),
    // The documents list classes 5, 6 and 40 without names.
    (5, Category::Robot, &["Hexarotor_5"]),
    (6, Category::Robot, &["Hexarotor_6"]),
    (30, Category::Human, &[
        "Dennis_Static", "Mei_Static", "Nathan_Static", "Nathan_Walking", "Nathan_Dancing", "Nathan_Standing", "Carla_Static",
        "Carla_Walking", "Carla_Standing", "Claudia_Static", "Claudia_Walking", "Claudia_Standing", "Eric_Static",
        "Eric_Walking", "Eric_Standing", "Manuel_Static", "Manuel_Walking", "Manuel_Standing", "Sophia_Static",
        "Sophia_Walking", "Sophia_Standing",
    ]),
    (40, Category::Object, &["Class_40"]),
    (50, Category::DynamicObject, &["Standard_Car_Blue"]),
    (60, Category::StaticObject, &[
        "Light_White", "Light_Red", "Light_Green", "Light_Blue", "Light_Purple", "Light_Yellow", "Light_Aqua",
        "Light_White_Strong", "Light_Red_Strong", "Light_Green_Strong", "Light_Blue_Strong", "Light_Purple_Strong",
        "Light_Yellow_Strong", "Light_Aqua_Strong", "Light_Dark",
    ]),
    (100, Category::Robot, &["Flying_Wing", "Fixed_Wing"]),
    (150, Category::StaticObject, &["Ring_Target_Blue", "Ring_Target_Green"]),
    (151, Category::StaticObject, &["Quad_Target_Red", "Quad_Target_Green", "Quad_Target_Blue"]),
    (152, Category::StaticObject, &["Sphere_Target_Red"]),
];

/// Returns the models that every renderer has.
pub(super) fn built_in_models() -> Vec<SpawnableModel> {
    let of_class = |(class, category, names): (i32, Category, &'static [&'static str])| {
        (0..).zip(names).map(move |(style, name)| SpawnableModel {
            name: (*name).to_owned(),
            class,
            style,
            category,
            description: format!("class {class}, style {style}"),
            size: None,
        })
    };
    BUILT_IN.into_iter().flat_map(of_class).collect()
}

pub(super) fn category_of(class: i32) -> Category {
    let row = BUILT_IN.iter().find(|(id, ..)| *id == class);
    row.map_or(Category::Object, |(_, category, _)| *category)
}

/// A parsed resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResource {
    /// Number of class and style, as in the renderer's packets.
    pub vehicle_type: i32,
    /// Prefix of a generated name.
    pub base: String,
    /// Category.
    pub category: Category,
    /// Factors of the size along the body's axes.
    pub scale: [f32; 3],
    /// The terrain decides the height.
    pub ground: bool,
    /// Time in s after which the object is removed unless a client reads or sets its state.
    pub keep_alive: Option<f64>,
}

/// Reads a resource: `rflysim://3`, `rflysim://60?style=2`, `rflysim://Standard_Car_Blue?scale=2&ground=true`.
pub fn parse_resource(uri: &str, models: &[SpawnableModel]) -> Result<ModelResource, SceneError> {
    const USAGE: &str = "such as rflysim://3, rflysim://60?style=2 or a name of GetSpawnables";
    if uri.is_empty() {
        return Err(Cause::NoResource.error(format!(
            "no resource: entity_resource.uri must be a model of the renderer, {USAGE}"
        )));
    }
    let Some(rest) = uri.strip_prefix(SCHEME) else {
        return Err(Cause::Format.error(format!(
            "{uri:?} is not a model of the renderer: it draws its own models only, {USAGE}"
        )));
    };
    let error = |message: String| Cause::Parse.error(format!("{uri:?}: {message}"));
    let (word, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (class, mut style, base, category) = if word.bytes().all(|b| b.is_ascii_digit()) {
        let class = word.parse().ok().filter(|number| *number > 0);
        let class = class
            .ok_or_else(|| error(format!("a class is a number from 1 to {}, {USAGE}", i32::MAX)))?;
        let (base, _) = class_and_style(class);
        let first = models.iter().find(|model| model.class == base);
        let category = first.map_or(Category::Object, |model| model.category);
        (class, 0, format!("class{class}"), category)
    } else {
        let found = models.iter().find(|m| m.name.eq_ignore_ascii_case(word));
        let model = found.ok_or_else(|| {
            let hint = did_you_mean(word, models.iter().map(|model| model.name.as_str()));
            Cause::NotFound.error(format!(
                "{uri:?}: no model is called {word:?}{hint} (GetSpawnables lists them, scene.file adds more)"
            ))
        })?;
        (model.class, model.style, model.name.clone(), model.category)
    };
    let (mut scale, mut ground, mut keep_alive, mut factor) = ([1.0; 3], false, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "style" => {
                let number = value.parse().ok().filter(|number| *number >= 0);
                style = number.ok_or_else(|| error(style_error(value)))?;
            }
            "factor" => {
                factor = value.parse().ok().filter(|factor| FACTORS.contains(factor));
                if factor.is_none() {
                    let message = format!("factor must be one of {FACTORS:?}, is {value:?}");
                    return Err(error(message));
                }
            }
            "scale" => {
                scale = parse_scale(value).ok_or_else(|| {
                    let (min, max) = SCALES.into_inner();
                    error(format!(
                        "scale must be one factor or three (x,y,z) from {min} to {max}, is {value:?}"
                    ))
                })?;
            }
            "ground" if matches!(value, "true" | "1") => ground = true,
            "ground" if matches!(value, "false" | "0") => ground = false,
            "ground" => return Err(error(format!("ground must be true or false, is {value:?}"))),
            "keep_alive" => {
                keep_alive = value.parse().ok().filter(|seconds| KEEP_ALIVE.contains(seconds));
                if keep_alive.is_none() {
                    let (min, max) = KEEP_ALIVE.into_inner();
                    return Err(error(format!(
                        "keep_alive must be a time from {min} to {max} s, is {value:?}"
                    )));
                }
            }
            _ => {
                let hint = did_you_mean(key, ["style", "factor", "scale", "ground", "keep_alive"]);
                return Err(error(format!(
                    "unknown option {key:?}{hint} (the options are style, factor, scale, ground, keep_alive)"
                )));
            }
        }
    }
    let vehicle_type = match factor {
        // The renderer would read another class from such a number.
        Some(factor) if class >= factor => None,
        Some(factor) => style.checked_mul(factor).and_then(|styled| styled.checked_add(class)),
        None => vehicle_type(class, style),
    };
    let vehicle_type = vehicle_type.ok_or_else(|| error(style_error(&style.to_string())))?;
    Ok(ModelResource { vehicle_type, base, category, scale, ground, keep_alive })
}

fn style_error(found: &str) -> String {
    let ((first, last), (from, to)) = (STYLES.into_inner(), NEWER_STYLES.into_inner());
    format!(
        "style must be a number from {first} to {last} (class + 1000 x style) or from {from} to {to} (class + 1000000 x style), and {first} \
         with a class above {}, is {found:?}; factor=100000 selects another factor (docs/wire/traps.md, style-factor)",
        CLASSES.end()
    )
}

/// Returns the number for a style of a class, if it is known.
pub(super) fn vehicle_type(class: i32, style: i32) -> Option<i32> {
    match style {
        0 => Some(class),
        _ if !CLASSES.contains(&class) => None,
        _ if STYLES.contains(&style) => Some(class + 1000 * style),
        _ if NEWER_STYLES.contains(&style) => Some(class + 1_000_000 * style),
        _ => None,
    }
}

fn parse_scale(text: &str) -> Option<[f32; 3]> {
    let factors: Result<Vec<f32>, _> = text.split(',').map(str::parse).collect();
    let scale = match factors.ok()?[..] {
        [all] => [all; 3],
        [x, y, z] => [x, y, z],
        _ => return None,
    };
    check_scale(scale).ok()
}

pub(super) fn check_scale(scale: [f32; 3]) -> Result<[f32; 3], String> {
    if scale.iter().all(|factor| SCALES.contains(factor)) {
        return Ok(scale);
    }
    let (min, max) = SCALES.into_inner();
    Err(format!("scale must be from {min} to {max} along each axis, is {scale:?}"))
}
