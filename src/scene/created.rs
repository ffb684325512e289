//! Objects that the renderer created from a file: its own log of objects that a user created, or the script of a map.
use super::map_pose::{MapPose, REACH_M};
use crate::config::Problems;
use crate::frames::{Attitude, Euler, Vector};

/// An object of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreatedObject {
    /// Id, from 1.
    pub id: i32,
    /// Number of class and style, as in the renderer's packets.
    pub vehicle_type: i32,
    /// Its pose.
    pub pose: MapPose,
}

/// First word of a line that creates an object; other lines are commands or clicked points.
const CREATE: &str = "CreateVehicle";
/// Limit of objects in a file.
const MAX_OBJECTS: usize = 4000;

impl CreatedObject {
    /// Reads lines `CreateVehicle,id,type,x,y,z,roll,pitch,yaw` (NED, m, rad); the last line of an id applies.
    ///
    /// # Errors
    /// The lines that cannot be read.
    pub fn read(file: &str, text: &str) -> Result<Vec<Self>, Problems> {
        let (mut created, mut problems) = (Vec::<Self>::new(), Problems::default());
        for (line, number) in text.lines().zip(1..) {
            let mut words = line.trim().trim_end_matches(';').split(',');
            let name = words.next().unwrap_or_default();
            if !name.trim().eq_ignore_ascii_case(CREATE) {
                continue;
            }
            match read_object(&words.collect::<Vec<_>>()) {
                Ok(object) => {
                    created.retain(|other| other.id != object.id);
                    created.push(object);
                }
                Err(why) => problems.push(format!("{file}: line {number}"), why),
            }
            if created.len() > MAX_OBJECTS {
                problems.push(file, format!("creates more than {MAX_OBJECTS} objects"));
                break;
            }
        }
        problems.or(created)
    }
}

fn read_object(words: &[&str]) -> Result<CreatedObject, String> {
    let [id, vehicle_type, x, y, z, roll, pitch, yaw] = words else {
        return Err(format!(
            "{CREATE} has 8 numbers: id, type, x, y, z, roll, pitch, yaw; this line has {}",
            words.len()
        ));
    };
    let integer = |name: &str, word: &str| {
        let number = word.trim().parse().ok().filter(|number: &i32| *number > 0);
        number.ok_or_else(|| format!("{name} must be a number from 1, is {word:?}"))
    };
    let number = |word: &str| {
        let number = word.trim().parse().ok().filter(|number: &f64| number.abs() <= REACH_M);
        number.ok_or_else(|| {
            format!("x, y, z, roll, pitch and yaw must be numbers from -{REACH_M} to {REACH_M}, got {word:?}")
        })
    };
    let position = Vector::new(number(x)?, number(y)?, number(z)?);
    let attitude = Attitude::from_euler(Euler::new(number(roll)?, number(pitch)?, number(yaw)?));
    Ok(CreatedObject {
        id: integer("the id", id)?,
        vehicle_type: integer("the type", vehicle_type)?,
        pose: MapPose { position, attitude },
    })
}
