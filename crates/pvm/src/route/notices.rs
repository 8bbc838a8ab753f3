//! `PvmRouteAdd` and `PvmRouteDelete`: notices about this task's own direct routes.
//!
//! As in the original they are messages of the task to itself that hold two ints: the other task,
//! and the descriptor of the route, -1 for one that has ended. A request about a route that is not
//! there is answered at once, and so is one that is taken back.

use pvm_wire::{Address, Context, Envelope, Tag, Tid};

#[derive(Debug)]
struct Add {
    context: Context,
    tag: Tag,
    /// The number of notices that are still wanted; negative for ever.
    left: i32,
}

#[derive(Debug)]
struct Delete {
    peer: Tid,
    context: Context,
    tag: Tag,
}

/// A notice that the task sends to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Notice {
    /// Context and tag, from the task to itself.
    pub(crate) envelope: Envelope,
    /// The other task.
    pub(crate) peer: Tid,
    /// The descriptor of the route's socket; -1 if the route has ended.
    pub(crate) descriptor: i32,
}

/// The notices that the program wants.
#[derive(Debug)]
pub(crate) struct RouteNotices {
    me: Tid,
    adds: Vec<Add>,
    deletes: Vec<Delete>,
}

impl RouteNotices {
    /// No notice is wanted.
    pub(crate) const fn new(me: Tid) -> Self {
        Self { me, adds: Vec::new(), deletes: Vec::new() }
    }

    fn notice(&self, context: Context, tag: Tag, peer: Tid, descriptor: i32) -> Notice {
        let envelope = Envelope::new(self.me, Address::new(self.me, tag, context));
        Notice { envelope, peer, descriptor }
    }

    /// Tell of the next `count` routes, of all if it is negative.
    pub(crate) fn want_added(&mut self, context: Context, tag: Tag, count: i32) {
        if count != 0 {
            self.adds.push(Add { context, tag, left: count });
        }
    }

    /// No need to tell any more.
    pub(crate) fn cancel_added(&mut self, context: Context, tag: Tag) {
        self.adds.retain(|add| (add.context, add.tag) != (context, tag));
    }

    /// Tell when the route to this task ends.
    pub(crate) fn want_deleted(
        &mut self,
        peer: Tid,
        context: Context,
        tag: Tag,
        stands: bool,
    ) -> Option<Notice> {
        if !stands {
            return Some(self.notice(context, tag, peer, -1));
        }
        self.deletes.push(Delete { peer, context, tag });
        None
    }

    /// Such requests are answered now.
    pub(crate) fn cancel_deleted(&mut self, peer: Tid, context: Context, tag: Tag) -> Vec<Notice> {
        self.deleted_where(|d| (d.peer, d.context, d.tag) == (peer, context, tag))
    }

    /// A route stands.
    pub(crate) fn added(&mut self, peer: Tid, descriptor: i32) -> Vec<Notice> {
        let notice = |add: &Add| self.notice(add.context, add.tag, peer, descriptor);
        let notices = self.adds.iter().map(notice).collect();
        for add in &mut self.adds {
            add.left -= i32::from(add.left > 0);
        }
        self.adds.retain(|add| add.left != 0);
        notices
    }

    /// The route to a task has ended.
    pub(crate) fn deleted(&mut self, peer: Tid) -> Vec<Notice> {
        self.deleted_where(|delete| delete.peer == peer)
    }

    fn deleted_where(&mut self, is_due: impl Fn(&Delete) -> bool) -> Vec<Notice> {
        let due: Vec<Delete> = self.deletes.extract_if(.., |delete| is_due(delete)).collect();
        due.iter().map(|d| self.notice(d.context, d.tag, d.peer, -1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Context = Context(0);

    #[test]
    fn each_request_is_answered_as_often_as_it_was_asked_for() {
        let (me, peer) = (Tid(0x40001), Tid(0x80001));
        let mut notices = RouteNotices::new(me);
        notices.want_added(NONE, Tag(64), -1);
        notices.want_added(NONE, Tag(65), 1);
        notices.want_added(NONE, Tag(66), 0);
        let tags = |all: Vec<Notice>| all.iter().map(|n| n.envelope.tag).collect::<Vec<_>>();
        let first = notices.added(peer, 9);
        assert!(first.iter().all(|notice| (notice.peer, notice.descriptor) == (peer, 9)));
        assert_eq!(tags(first), [64, 65]);
        assert_eq!(tags(notices.added(peer, 9)), [64]);
        notices.cancel_added(NONE, Tag(64));
        assert!(notices.added(peer, 9).is_empty());
        let at_once = notices.want_deleted(peer, NONE, Tag(67), false).expect("no route");
        let Envelope { src, dst, tag, .. } = at_once.envelope;
        assert_eq!((src, dst, tag), (me, me, 67));
        assert_eq!((at_once.peer, at_once.descriptor), (peer, -1));
        assert_eq!(notices.want_deleted(peer, NONE, Tag(68), true), None);
        assert_eq!(notices.want_deleted(peer, NONE, Tag(69), true), None);
        assert_eq!(tags(notices.cancel_deleted(peer, NONE, Tag(69))), [69]);
        assert!(notices.cancel_deleted(peer, NONE, Tag(69)).is_empty());
        assert!(notices.deleted(Tid(0x80002)).is_empty());
        assert_eq!(tags(notices.deleted(peer)), [68]);
        assert!(notices.deleted(peer).is_empty());
    }
}
