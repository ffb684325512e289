//! The table on a terminal, with keys.
use super::groups::{Group, GroupState, SortOrder, sort};
use super::summary::{causes, head, line_of, topic_head, topic_line};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{List, ListItem, ListState, Paragraph};
use ratatui::{Frame, text::Line};
use std::time::Duration;

const HELP: &str = "q quit  / filter  s sort  Enter details  Esc back";
const MAX_FILTER_LEN: usize = 40;

/// The table with its filter, order and cursor.
#[derive(Debug, Default)]
pub struct Screen {
    groups: Vec<Group>,
    remarks: Vec<String>,
    elapsed: Duration,
    order: usize,
    filter: String,
    /// The filter is being typed.
    is_typing: bool,
    /// The group whose topics are shown.
    opened: Option<String>,
    selected: ListState,
    /// The cursor in the details.
    scrolled: ListState,
}

impl Screen {
    /// Replaces the figures.
    pub fn update(&mut self, groups: Vec<Group>, remarks: Vec<String>, elapsed: Duration) {
        (self.groups, self.remarks, self.elapsed) = (groups, remarks, elapsed);
        let (order, _) = self.order();
        sort(&mut self.groups, order);
        if self.selected.selected().is_none() {
            self.selected.select(Some(0));
        }
    }

    /// Handles a key; false if it ends the program.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let interrupt = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if interrupt => return false,
            KeyCode::Enter | KeyCode::Esc if self.is_typing => {
                self.is_typing = false;
                if key.code == KeyCode::Esc {
                    self.filter.clear();
                }
            }
            KeyCode::Backspace if self.is_typing => {
                self.filter.pop();
                self.selected.select_first();
            }
            KeyCode::Char(c) if self.is_typing && self.filter.len() < MAX_FILTER_LEN => {
                self.filter.push(c);
                self.selected.select_first();
            }
            KeyCode::Char(_) if self.is_typing => {}
            KeyCode::Char('q') => return false,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('s') => {
                self.order = (self.order + 1) % SortOrder::ALL.len();
                let (order, _) = self.order();
                sort(&mut self.groups, order);
            }
            KeyCode::Enter => {
                self.opened = self.at_cursor();
                self.scrolled.select_first();
            }
            KeyCode::Esc if self.opened.is_some() => self.opened = None,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Down | KeyCode::Char('j') => self.cursor().select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.cursor().select_previous(),
            KeyCode::Home => self.cursor().select_first(),
            KeyCode::End => self.cursor().select_last(),
            _ => {}
        }
        true
    }

    fn order(&self) -> (SortOrder, &'static str) {
        SortOrder::ALL.get(self.order).copied().unwrap_or((SortOrder::Worst, "worst"))
    }

    /// Returns the groups whose name contains the filter, or that have a topic whose name does.
    fn shown(&self) -> Vec<&Group> {
        let has_topic = |group: &Group| {
            let mut topics = group.topics.iter();
            topics.any(|line| line.figures.name.contains(&self.filter))
        };
        let groups = self.groups.iter();
        groups.filter(|group| group.name.contains(&self.filter) || has_topic(group)).collect()
    }

    fn cursor(&mut self) -> &mut ListState {
        match self.opened {
            Some(_) => &mut self.scrolled,
            None => &mut self.selected,
        }
    }

    fn at_cursor(&self) -> Option<String> {
        let at = self.selected.selected().unwrap_or(0);
        self.shown().get(at).map(|group| group.name.clone())
    }

    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let remarks = self.remarks.len().min(4) as u16;
        let areas = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(remarks),
            Constraint::Length(1),
        ]);
        let [title, column, body, foot, help] = areas.areas(frame.area());
        let opened = self.groups.iter().find(|group| Some(&group.name) == self.opened.as_ref());
        let (names, lines) = match opened {
            Some(group) => (topic_head(), details(group)),
            None => {
                let line =
                    |group: &&Group| ListItem::new(line_of(group)).style(style_of(group.state));
                (head(), self.shown().iter().map(line).collect())
            }
        };
        let subject = opened.map_or_else(
            || format!("{} of {} groups", self.shown().len(), self.groups.len()),
            |group| format!("{}: {}", group.name, group.state.name()),
        );
        let text = format!(
            "rfly_bridge top  {subject}, {:.0} s, by {}",
            self.elapsed.as_secs_f64(),
            self.order().1
        );
        frame.render_widget(Line::from(text).style(Modifier::BOLD), title);
        frame.render_widget(Line::from(names).style(Modifier::UNDERLINED), column);
        let is_opened = opened.is_some();
        let list = List::new(lines).highlight_style(Modifier::REVERSED);
        let state = if is_opened { &mut self.scrolled } else { &mut self.selected };
        frame.render_stateful_widget(list, body, state);
        let remarks: Vec<_> =
            self.remarks.iter().map(|remark| Line::from(remark.as_str())).collect();
        frame.render_widget(Paragraph::new(remarks).style(Color::Yellow), foot);
        let keys = match (self.is_typing, self.filter.is_empty()) {
            (true, _) => format!("filter: {}_", self.filter),
            (false, true) => HELP.to_owned(),
            (false, false) => format!("{HELP}  [{}]", self.filter),
        };
        frame.render_widget(Line::from(keys), help);
    }
}

/// The topics of a group, and its drops.
fn details(group: &Group) -> Vec<ListItem<'static>> {
    let names: Vec<_> = group.topics.iter().map(|line| line.figures.name.as_str()).collect();
    let prefix = shared_prefix(&names);
    let mut items = Vec::new();
    if let Some(shared) =
        names.first().and_then(|name| name.get(..prefix)).filter(|p| !p.is_empty())
    {
        items.push(ListItem::new(format!("below {shared}")));
    }
    items.extend(group.topics.iter().map(|line| ListItem::new(topic_line(line, prefix))));
    if group.dropped() > 0 {
        let dropped = format!("dropped: {}", causes(&group.drops));
        items.push(ListItem::new(dropped).style(Color::Yellow));
    }
    if !group.ignored.is_empty() {
        items.push(ListItem::new(format!("ignored: {}", causes(&group.ignored))));
    }
    items
}

/// Length of the common prefix of all names, up to a `/`.
fn shared_prefix(names: &[&str]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    let ends = first.match_indices('/').map(|(at, _)| at + 1);
    let shared = ends.filter(|end| others.iter().all(|name| name.get(..*end) == first.get(..*end)));
    shared.max().unwrap_or(0)
}

fn style_of(state: GroupState) -> Style {
    match state {
        GroupState::Ok => Style::default(),
        GroupState::Waiting => Style::from(Color::DarkGray),
        GroupState::Drops | GroupState::Slow => Style::from(Color::Yellow),
        GroupState::Lost => Style::from(Color::Red),
    }
}
