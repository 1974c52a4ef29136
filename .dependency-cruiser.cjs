// The arrows of the house: kernel, errors ← platform ← ledger ← slices ← operations, app ← main, cli.
// A slice is every folder of src/ that is not one of the layers below, so a new one is held to the rules from its first file.
const LAYERS = 'kernel|platform|ledger|sandbox|operator|conformance|cli'
const FOR_ALL = ['^src/kernel/', '^src/(errors|events|config)\\.ts$']

const arrow = (name, comment, from, mayReach) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: mayReach },
})

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Two files that need each other are one thought in two places.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    arrow('kernel-knows-nobody', 'kernel/ is pure and knows no product noun.', '^src/kernel/', [
      '^src/kernel/',
    ]),
    {
      name: 'kernel-does-no-io',
      comment: 'Clock, randomness and the outside come in as values.',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional'], pathNot: '^(node:)?util$' },
    },
    arrow(
      'errors-and-config-know-kernel',
      'What all may import must import almost nothing.',
      '^src/(errors|events|config)\\.ts$',
      ['^src/kernel/'],
    ),
    arrow(
      'platform-knows-no-product',
      'platform/ talks to the outside and knows no product noun.',
      '^src/platform/',
      ['^src/platform/', ...FOR_ALL],
    ),
    arrow('ledger-knows-no-slice', 'ledger/ serves every slice and knows none.', '^src/ledger/', [
      '^src/(ledger|platform)/',
      ...FOR_ALL,
    ]),
    arrow(
      'slices-do-not-meet',
      'A slice reaches another through ledger/ or an outbox event, never by an import; the sandbox is outside world.',
      `^src/(?!(?:${LAYERS})/)([^/]+)/`,
      ['^src/$1/', '^src/(ledger|platform)/', ...FOR_ALL],
    ),
    arrow(
      'conformance-knows-http-only',
      'The kit holds any server to the specification: what it took from ours it could not find wrong there.',
      '^src/conformance/',
      ['^src/(conformance|kernel)/'],
    ),
    arrow(
      'sandbox-is-mounted-not-mounting',
      'sandbox/ plays the outside world on top of the slices.',
      '^src/sandbox/',
      ['^src/(?!cli/|operator/)[^/]+/', ...FOR_ALL],
    ),
    arrow(
      'operator-stands-above-the-slices',
      'operator/ gives the same commands as partners and the command line do; no slice knows of it.',
      '^src/operator/',
      ['^src/(?!cli/)[^/]+/', '^src/operations\\.ts$', ...FOR_ALL],
    ),
    arrow(
      'nothing-reaches-up',
      'Only main and cli stand above the composition root; cli is on top.',
      '^src/(operations|event-records|app|installation|main|serve-until)\\.ts$',
      [
        '^src/(?!cli/)[^/]+/',
        '^src/(operations|event-records|examples|app|installation|serve-until)\\.ts$',
        ...FOR_ALL,
      ],
    ),
    {
      name: 'src-stands-alone',
      comment: 'What is shipped never needs what only tests, benches or scripts have.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts|console|sdk|dist)/' },
    },
    {
      name: 'no-dev-packages-in-src',
      comment: 'A package that only development installs is not there in production.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'everything-resolves',
      comment: 'An import that leads nowhere is a misspelling or a missing package.',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
