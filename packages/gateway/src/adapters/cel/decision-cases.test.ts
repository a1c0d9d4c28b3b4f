import { decisionCases } from '@reeve/core/testkit';
import { policyFeatures } from './policy-features.ts';

decisionCases(['conditions.yaml', 'users.yaml'], policyFeatures);
