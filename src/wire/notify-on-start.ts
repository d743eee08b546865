import type { Dispatcher } from 'undici';

/** Calls `started` when a request is about to be written to a connection; before that, nothing was sent. */
export function notifyOnStart(started: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const { onRequestStart } = handler;
    handler.onRequestStart = (...given) => {
      started();
      onRequestStart?.apply(handler, given);
    };
    return dispatch(options, handler);
  };
}
