/** Calls a listener. If the listener throws, the error surfaces but breaks nothing here. */
export function notify<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
