//! A task's calls about direct routes to tasks of other hosts.

use super::Task;
use crate::route::{DONT_ROUTE, watch_too};
use crate::state::State;
use pvm_wire::request::Request;
use pvm_wire::{Code, Context, Tag, Tid};
use std::sync::atomic::Ordering;

impl Task {
    /// Whether this task asks for direct routes to tasks of other hosts, and whether others get
    /// one to it: `PvmDontRoute` 1, `PvmAllowDirect` 2 (the default), `PvmRouteDirect` 3. Routes
    /// that stand go on.
    ///
    /// # Errors
    /// [`Code::BadParam`], [`Code::SysErr`] if the daemon is gone.
    pub fn set_route(&self, option: i32) -> Result<(), Code> {
        if !(1..=3).contains(&option) {
            return Err(Code::BadParam);
        }
        let old = std::mem::replace(&mut self.live()?.enter()?.routes.option, option);
        if (old == DONT_ROUTE) != (option == DONT_ROUTE) {
            self.request(&Request::SetRoute { allowed: option != DONT_ROUTE })?;
        }
        Ok(())
    }

    /// Tells of the next `count` direct routes of this task (`PvmRouteAdd`), of all if it is
    /// negative; or no more.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone, [`Code::Already`] inside of a signal handler.
    pub fn notify_route_add(
        &self,
        context: Context,
        tag: Tag,
        count: i32,
        cancel: bool,
    ) -> Result<(), Code> {
        let notices = &mut self.live()?.enter()?.routes.notices;
        if cancel {
            notices.cancel_added(context, tag);
        } else {
            notices.want_added(context, tag, count);
        }
        Ok(())
    }

    /// Tells when the direct routes to these tasks end (`PvmRouteDelete`), at once where there is
    /// none, also where the request is taken back (as the original does); or, of such requests,
    /// now.
    ///
    /// # Errors
    /// As for [`Task::notify_route_add`].
    pub fn notify_route_delete(
        &self,
        context: Context,
        tag: Tag,
        tids: &[Tid],
        cancel: bool,
    ) -> Result<(), Code> {
        let mut state = self.live()?.enter()?;
        for &peer in tids {
            let stands = state.routes.open.contains_key(&peer);
            if cancel && stands {
                let notices = state.routes.notices.cancel_deleted(peer, context, tag);
                state.tell_self(notices);
                continue;
            }
            let notice = state.routes.notices.want_deleted(peer, context, tag, stands);
            state.tell_self(notice.into_iter().collect());
        }
        self.rewatch(&mut state, false);
        Ok(())
    }

    /// Once there are direct routes, a wait waits for their descriptor, too.
    pub(super) fn follow_routes(&self, state: &mut State) {
        state.adopt();
        if self.waiter.routes.load(Ordering::Relaxed) >= 0 || state.routes.open.is_empty() {
            return;
        }
        if let Some(routes) = state.routes.descriptor() {
            self.waiter.routes.store(routes, Ordering::Release);
            if let Some(watch) = self.watch.get() {
                watch_too(watch, routes);
            }
        }
    }
}
