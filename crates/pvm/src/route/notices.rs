//! `PvmRouteAdd` and `PvmRouteDelete`: notices about this task's own direct routes.
//!
//! As in the original they are empty messages of the task to itself. A request about a route that
//! is not there is answered at once.

use pvm_wire::{Envelope, Tid};

#[derive(Debug)]
struct Add {
    context: i32,
    tag: i32,
    /// How many more; negative for ever.
    left: i32,
}

#[derive(Debug)]
struct Delete {
    peer: Tid,
    context: i32,
    tag: i32,
}

/// What the program wants to be told.
#[derive(Debug)]
pub(crate) struct RouteNotices {
    me: Tid,
    adds: Vec<Add>,
    deletes: Vec<Delete>,
}

impl RouteNotices {
    /// Nothing.
    pub(crate) const fn new(me: Tid) -> Self {
        Self { me, adds: Vec::new(), deletes: Vec::new() }
    }

    fn notice(&self, context: i32, tag: i32) -> Envelope {
        Envelope::new(self.me, self.me, tag, context)
    }

    /// Tell of the next `count` routes, of all if it is negative.
    pub(crate) fn want_added(&mut self, context: i32, tag: i32, count: i32) {
        if count != 0 {
            self.adds.push(Add { context, tag, left: count });
        }
    }

    /// No need to tell any more.
    pub(crate) fn cancel_added(&mut self, context: i32, tag: i32) {
        self.adds.retain(|add| (add.context, add.tag) != (context, tag));
    }

    /// Tell when the route to this task ends.
    pub(crate) fn want_deleted(
        &mut self,
        peer: Tid,
        (context, tag): (i32, i32),
        stands: bool,
    ) -> Option<Envelope> {
        if !stands {
            return Some(self.notice(context, tag));
        }
        self.deletes.push(Delete { peer, context, tag });
        None
    }

    /// No need to tell any more.
    pub(crate) fn cancel_deleted(&mut self, peer: Tid, context: i32, tag: i32) {
        self.deletes.retain(|d| (d.peer, d.context, d.tag) != (peer, context, tag));
    }

    /// A route stands.
    pub(crate) fn added(&mut self) -> Vec<Envelope> {
        let notices = self.adds.iter().map(|add| self.notice(add.context, add.tag)).collect();
        for add in &mut self.adds {
            add.left -= i32::from(add.left > 0);
        }
        self.adds.retain(|add| add.left != 0);
        notices
    }

    /// The route to a task has ended.
    pub(crate) fn deleted(&mut self, peer: Tid) -> Vec<Envelope> {
        let due: Vec<Delete> = self.deletes.extract_if(.., |delete| delete.peer == peer).collect();
        due.iter().map(|delete| self.notice(delete.context, delete.tag)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_answered_as_often_as_it_was_asked_for() {
        let (me, peer) = (Tid(0x40001), Tid(0x80001));
        let mut notices = RouteNotices::new(me);
        notices.want_added(0, 64, -1);
        notices.want_added(0, 65, 1);
        notices.want_added(0, 66, 0);
        let tags = |all: Vec<Envelope>| all.iter().map(|n| n.tag).collect::<Vec<_>>();
        assert_eq!(tags(notices.added()), [64, 65]);
        assert_eq!(tags(notices.added()), [64]);
        notices.cancel_added(0, 64);
        assert!(notices.added().is_empty());
        let at_once = notices.want_deleted(peer, (0, 67), false).expect("no route");
        assert_eq!((at_once.src, at_once.dst, at_once.tag), (me, me, 67));
        assert_eq!(notices.want_deleted(peer, (0, 68), true), None);
        assert_eq!(notices.want_deleted(peer, (0, 69), true), None);
        notices.cancel_deleted(peer, 0, 69);
        assert!(notices.deleted(Tid(0x80002)).is_empty());
        assert_eq!(tags(notices.deleted(peer)), [68]);
        assert!(notices.deleted(peer).is_empty());
    }
}
