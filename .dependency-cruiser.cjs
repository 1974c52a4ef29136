// What types cannot see. That no package imports another one beyond its references is held by `tsc -b` (check `types`):
// kernel ← contract ← platform ← core ← server ← console-api ← app ← cli; jwe, upi-qr and embedded-postgres beside them.
const CORE = '^packages/core/src/'
const SERVER = '^packages/server/src/'

/**
 * @param {string} name
 * @param {string} comment
 * @param {string} from
 * @param {string} within
 * @param {string[]} mayReach
 */
const arrow = (name, comment, from, within, mayReach) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: within, pathNot: mayReach },
})

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Two files that need each other are one thought in two places.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'kernel-does-no-io',
      comment: 'Clock, randomness and the outside come in as values.',
      severity: 'error',
      from: { path: '^packages/kernel/src/' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional'], pathNot: '^(node:)?(buffer|util)$' },
    },
    arrow('ledger-knows-no-slice', 'ledger/ serves every slice and knows none.', `${CORE}ledger/`, CORE, [
      `${CORE}ledger/`,
    ]),
    arrow(
      'tenants-know-no-slice',
      'tenants/ says who is who for every slice: merchants, partners, their credentials, companies and users.',
      `${CORE}tenants/`,
      CORE,
      [`${CORE}(tenants|ledger)/`],
    ),
    arrow(
      'rails-know-no-slice',
      'rails/ reads and keeps the signed notices of banks for every slice.',
      `${CORE}rails/`,
      CORE,
      [`${CORE}(rails|tenants|ledger)/`],
    ),
    arrow(
      'slices-do-not-meet',
      'A slice reaches another through ledger/, tenants/, rails/ or an outbox event, never by an import; bank-files/ reads for all.',
      `${CORE}(?!(?:ledger|tenants|rails|payments)/)([^/]+)/`,
      CORE,
      [`${CORE}($1|ledger|tenants|rails|bank-files)/`],
    ),
    arrow(
      'payments-know-their-codes',
      'A payment changes its QR code with it; codes know nothing of payments.',
      `${CORE}payments/`,
      CORE,
      [`${CORE}(payments|qr-codes|ledger|tenants|rails|bank-files)/`],
    ),
    arrow(
      'http-knows-no-product',
      'http/ mounts whatever operations it is given.',
      `${SERVER}http/`,
      `${SERVER}|${CORE}`,
      [`${SERVER}http/`],
    ),
    arrow(
      'server-knows-no-sandbox',
      'sandbox/ plays the outside world on top of the operations; only their table of contents names it.',
      `${SERVER}(?!sandbox/|operations\\.ts$)`,
      `${SERVER}sandbox/`,
      [],
    ),
    {
      name: 'packages-stand-alone',
      comment: 'What is shipped never needs what only tests, benches or scripts have.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      to: { path: '^(test|lab|scripts|apps|dist|packages/[^/]+/test)/' },
    },
    {
      name: 'no-dev-packages',
      comment:
        'A package that only development installs is not there in production. The SDK is built with its packages inside.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: '^packages/sdk/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'everything-resolves',
      comment: 'An import that leads nowhere is a misspelling or a missing package.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/sdk/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
