//! Filters of queries.
use super::volume_of;
use crate::frames::WorldConvention;
use crate::msgs::simulation_interfaces::msg::{EntityFilters, TagsFilter};
use crate::scene::bounds::Volume;
use crate::scene::entities::Entity;
use crate::scene::error::{Cause, SceneError};
use crate::scene::models::Category;
use regex_lite::Regex;

/// Longest regular expression in bytes.
const MAX_REGEX_LEN: usize = 1000;

pub(super) struct Filter<'a> {
    name: Option<Regex>,
    categories: Vec<Category>,
    tags: Tags<'a>,
    bounds: Option<Volume>,
    world: WorldConvention,
}

impl<'a> Filter<'a> {
    pub(super) fn new(
        filters: &'a EntityFilters,
        world: WorldConvention,
    ) -> Result<Self, SceneError> {
        let failed = |message: String| Cause::Failed.error(message);
        let name = match filters.filter.as_str() {
            "" => None,
            long if long.len() > MAX_REGEX_LEN => {
                return Err(failed(format!(
                    "filters.filter has at most {MAX_REGEX_LEN} bytes, this one has {}",
                    long.len()
                )));
            }
            text => Some(Regex::new(text).map_err(|error| {
                failed(format!(
                    "filters.filter must be a regular expression such as `copter.*`, is {text:?}: {error}"
                ))
            })?),
        };
        let category = |number: u8| {
            Category::from_repr(number).ok_or_else(|| {
                failed(format!("a category must be 0, 1, 2, 4 or 5 (EntityCategory), is {number}"))
            })
        };
        let categories = filters.categories.iter().map(|c| category(c.category));
        Ok(Self {
            name,
            categories: categories.collect::<Result<_, _>>()?,
            tags: Tags::new(&filters.tags)?,
            bounds: volume_of(&filters.bounds)?,
            world,
        })
    }

    pub(super) fn matches(&self, name: &str, entity: &Entity) -> bool {
        self.name.as_ref().is_none_or(|regex| regex.is_match(name))
            && (self.categories.is_empty() || self.categories.contains(&entity.info.category))
            && self.tags.matches(&entity.info.tags)
            && self.bounds.is_none_or(|bounds| self.overlaps(entity, &bounds))
    }

    /// An entity of unknown size counts as a point; one of unknown pose overlaps nothing.
    fn overlaps(&self, entity: &Entity, bounds: &Volume) -> bool {
        let Some(motion) = &entity.motion else { return false };
        let volume = match &entity.extent {
            Some(extent) => extent.in_world(&motion.pose, self.world),
            None => Volume::Sphere(self.world.vector(motion.pose.position), 0.0),
        };
        volume.overlaps(bounds)
    }
}

pub(super) struct Tags<'a> {
    tags: &'a [String],
    matches_all: bool,
}

impl<'a> Tags<'a> {
    pub(super) fn new(filter: &'a TagsFilter) -> Result<Self, SceneError> {
        let matches_all = match filter.filter_mode {
            TagsFilter::FILTER_MODE_ANY => false,
            TagsFilter::FILTER_MODE_ALL => true,
            other => {
                return Err(Cause::Failed.error(format!(
                    "filter_mode must be 0 (any tag) or 1 (all tags), is {other}"
                )));
            }
        };
        Ok(Self { tags: &filter.tags, matches_all })
    }

    pub(super) fn matches(&self, tags: &[String]) -> bool {
        match (self.tags, self.matches_all) {
            ([], _) => true,
            (wanted, true) => wanted.iter().all(|tag| tags.contains(tag)),
            (wanted, false) => wanted.iter().any(|tag| tags.contains(tag)),
        }
    }
}
