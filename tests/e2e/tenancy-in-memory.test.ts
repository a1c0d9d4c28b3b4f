import { describeTenancy } from './tenancy-suite.ts';

describeTenancy('nothing but memory', ['--database', 'memory:']);
