import { installNode } from '../../runtimes/node.ts'
import type { Bed, Side } from '../bed.ts'
import { type Contender, contest, type Figure, httpContender } from '../contest.ts'
import { requestBytes } from '../load.ts'
import { creates, credits, prepare } from './durable-commands.ts'
import type { Measure, Setting } from './measure.ts'

/** Those with long-term support now, or soon; downloaded as npm packages. */
const VERSIONS = ['20', '24', '26'] as const
const named = (operation: string, version: string): string => `${operation}, Node ${version}`

/** The program on one version of Node, on the database of all. */
async function openSide(bed: Bed, version: string): Promise<Side> {
  const node = await installNode(version)
  return { ...bed, service: await bed.startService(undefined, node) }
}

/** A command that waits for the disk, one that draws an image, and a signature. */
function contendersOf(setting: Setting, sides: ReadonlyMap<string, Side>) {
  const { bed, seconds } = setting
  const requests = bed.apiKeys.map((key) =>
    requestBytes('POST', '/api/v0/merchant/token', { 'api-key': key }),
  )
  const loads = {
    'accept a payment': (side: Side) => credits(side, seconds),
    'create a QR code': creates,
    'get a merchant token': ({ service: { port } }: Side) => ({
      port,
      next: (n: number) => requests[n % requests.length],
    }),
  } satisfies Record<string, (side: Side) => ReturnType<NonNullable<Contender['load']>>>
  return Object.entries(loads).map(([operation, load]) =>
    [...sides].map(([version, side]) =>
      httpContender(named(operation, version), [side.service.pid, side.postmasterPid], () => load(side)),
    ),
  )
}

/** `npm run bench -- --only node-versions`: every version beside the others, in one run. */
export const nodeVersions: Measure = {
  id: 'node-versions',
  title: 'The same program on several versions of Node',
  onlyWith: '--only',
  async run(setting) {
    const sides = new Map<string, Side>()
    try {
      for (const version of VERSIONS) sides.set(version, await openSide(setting.bed, version))
      const operations = contendersOf(setting, sides)
      const figures: Figure[] = []
      for (const contenders of operations)
        figures.push(
          ...(await contest({
            ...setting,
            contenders,
            sameRate: true,
            prepare: prepare(setting.bed, false),
          })),
        )
      const comparisons = operations.flatMap(([oldest, ...newer]) =>
        newer.map(({ name }) => ({ of: name, to: oldest!.name })),
      )
      return { figures, comparisons }
    } finally {
      for (const { service } of sides.values()) await service.end()
    }
  },
}
