/** Several gateways work on the same rows. Only PostgreSQL has something to do: see postgres/several-gateways.ts. */
export const severalGateways = `SELECT 1;`;
