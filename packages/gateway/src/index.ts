export { describeSettings } from './config/describe-settings.ts';
export { serve } from './serve.ts';
