import { useEffect, useRef, useState } from 'react';

/** Samples a value that changes many times a second. */
export function useThrottled<Value>(value: Value, everyMs: number): Value {
  const [taken, setTaken] = useState(value);
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  }, [value]);
  useEffect(() => {
    const timer = setInterval(() => setTaken(latest.current), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return taken;
}
