import { PEER, SVC } from './against-peer.ts'
import { CORES } from './cores.ts'
import type { StoredProfile } from './pages.ts'
import { ceiling, type Profiled, type Work } from './profile.ts'
import { small, whole } from './report.ts'

const HEADS: Record<(typeof CORES)[number], string> = {
  callers: 'callers',
  service: 'server',
  postgres: 'PostgreSQL',
  others: 'kernel and others',
  disk: 'waiting for the disk',
  idle: 'idle',
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(' | ')} |`,
  `|${head.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
]

const coresRow = (title: string, name: string, work: Work): string[] => [
  title,
  name,
  whole(work.perSecond),
  ...CORES.map((part) => work[part].toFixed(2)),
]

const ratioRow = (profiled: Profiled): string[] => [
  profiled.title,
  `${(profiled.svc.perSecond / profiled.peer.perSecond).toFixed(2)} ×`,
  `${ceiling(profiled).toFixed(2)} ×`,
  `${profiled.aim} ×`,
]

/** Parts by operation, the largest sum first. */
function partsTable(profiles: readonly Profiled[]): string[] {
  const sums = new Map<string, number>()
  for (const { shares } of profiles)
    for (const [part, share] of shares) sums.set(part, (sums.get(part) ?? 0) + share)
  const parts = [...sums].sort((a, b) => b[1] - a[1]).filter(([, sum]) => sum >= 0.01)
  const shareOf = ({ shares }: Profiled, part: string) => shares.find(([name]) => name === part)?.[1] ?? 0
  return table(
    ['% of the server’s time', ...profiles.map(({ title }) => title)],
    parts.map(([part]) => [part, ...profiles.map((one) => (shareOf(one, part) * 100).toFixed(1))]),
  )
}

/** Where the time goes: what bounds each ratio. */
export function profileSection({ machine, setting, profiles }: StoredProfile): string {
  const { callers, seconds } = setting
  return [
    '## Where the time goes',
    '',
    `Written by \`npm run bench -- --profile --write\`. ${machine}. ${callers} callers as fast as they can, ${seconds} s each.`,
    'Processors that are busy with each part, as Linux counts them. "With no idle core" is what the ratio would be if',
    'neither server ever left a core idle: the processor time of a request with its caller’s, by hand, against svc’s.',
    '',
    ...table(['', 'ratio', 'with no idle core', 'aim'], profiles.map(ratioRow)),
    '',
    ...table(
      ['', '', 'requests/s', ...CORES.map((part) => HEADS[part])],
      profiles.flatMap(({ title, svc, peer }) => [coresRow(title, SVC, svc), coresRow('', PEER, peer)]),
    ),
    '',
    'The server’s own time, sampled (V8). Node’s frames count for `pg` where it called them, native ones for their caller.',
    '',
    ...partsTable(profiles),
    '',
    'PostgreSQL’s statements of 10 µs a request and more, waits for the disk included, as `pg_stat_statements` has them.',
    '',
    ...table(
      ['', 'statement', 'µs a request', 'calls a request'],
      profiles.flatMap(({ title, statements }) =>
        statements
          .filter(({ micros }) => micros >= 10)
          .map(({ name, calls, micros }) => [title, `\`${name}\``, small(micros), calls.toFixed(3)]),
      ),
    ),
    '',
  ].join('\n')
}
