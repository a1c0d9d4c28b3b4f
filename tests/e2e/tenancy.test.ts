import { describeTenancy } from './tenancy-suite.ts';

describeTenancy('the embedded store', []);
