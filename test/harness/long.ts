/** Whether tests that take too long for every change run as well: `npm run test:long`. */
export const LONG = process.env['TEST_LONG'] !== undefined
