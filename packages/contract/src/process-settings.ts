import { bad, type Setting, whole } from './setting.ts'

/** What a process may do of the work of an installation, in the order of the reference. */
export const PROCESS_ROLES = ['api', 'jobs', 'console'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

const isRole = (text: string): text is ProcessRole => PROCESS_ROLES.some((role) => role === text)

const roles: Setting<readonly ProcessRole[]> = {
  type: `one or more of ${PROCESS_ROLES.map((role) => `\`${role}\``).join(', ')}, comma-separated`,
  default: PROCESS_ROLES.join(),
  meaning:
    'What this process does. `api`: it serves the API, the rails and the reference. `console`: it serves the console and the portal, exports included. `jobs`: it numbers events, delivers webhooks, carries out bulk jobs, and does what is due. Each role must be in at least one process of an installation; `/livez`, `/readyz` and `/metrics` are served by all. Sandbox mode needs all three in one process.',
  read(value) {
    const given = value.split(',').map((part) => part.trim())
    for (const each of given)
      if (!isRole(each)) bad(`must be one or more of ${PROCESS_ROLES.join(', ')}, comma-separated`)
    return PROCESS_ROLES.filter((role) => given.includes(role))
  },
}

const WORKERS_MAX = 128

export const PROCESS_SETTINGS = {
  ROLES: roles,
  WORKERS: whole(
    1,
    1,
    WORKERS_MAX,
    'Live mode: processes that serve requests on `PORT`, such as one for each core. With more than one, `svc serve` starts them and replaces those that end, and `jobs` has one more process of its own.',
  ),
} satisfies Record<string, Setting<unknown>>

/** Settings that could not be read are absent. */
interface Given {
  readonly SVC_MODE: 'live' | 'sandbox'
  readonly ROLES?: readonly ProcessRole[]
  readonly WORKERS?: number
  readonly PUBLIC_URL?: string | undefined
  readonly CONSOLE: 'on' | 'off'
  readonly PORTAL: 'on' | 'off'
}

/** What is wrong with the settings of processes together. */
export function processErrors({
  SVC_MODE,
  ROLES = PROCESS_ROLES,
  WORKERS = 1,
  PUBLIC_URL,
  ...pages
}: Given): string[] {
  const isSplit = ROLES.length < PROCESS_ROLES.length
  if (SVC_MODE === 'sandbox')
    return [
      ...(isSplit ? [`ROLES must be ${PROCESS_ROLES.join()} in sandbox mode, which needs all of them`] : []),
      ...(WORKERS > 1 ? ['WORKERS must be 1 in sandbox mode'] : []),
    ]
  const servesRequests = ROLES.some((role) => role !== 'jobs')
  const servesNothing = ROLES.join() === 'console' && pages.CONSOLE === 'off' && pages.PORTAL === 'off'
  const needsUrl = (isSplit || WORKERS > 1) && PUBLIC_URL === undefined
  return [
    ...(servesNothing ? ['ROLES must not be console alone where CONSOLE and PORTAL are off'] : []),
    ...(WORKERS > 1 && !servesRequests
      ? ['WORKERS must be 1 where ROLES is jobs: one process does all of it']
      : []),
    ...(needsUrl
      ? [
          `PUBLIC_URL is needed with ${isSplit ? `ROLES=${ROLES.join()}` : `WORKERS=${WORKERS}`}: callers reach all processes at one address`,
        ]
      : []),
  ]
}

/** One of the processes of `svc serve`. */
export interface PlannedProcess {
  /** `jobs`, or its number from 1 on. */
  readonly name: string
  readonly roles: readonly ProcessRole[]
}

/** The processes of one `svc serve`: with `WORKERS`, jobs have one of their own. */
export function plannedProcesses({
  ROLES,
  WORKERS,
}: Required<Pick<Given, 'ROLES' | 'WORKERS'>>): PlannedProcess[] {
  if (WORKERS === 1) return [{ name: '1', roles: ROLES }]
  const roles = ROLES.filter((role) => role !== 'jobs')
  return [
    ...Array.from({ length: WORKERS }, (_, n) => ({ name: `${n + 1}`, roles })),
    ...(ROLES.includes('jobs') ? [{ name: 'jobs', roles: ['jobs'] as const }] : []),
  ]
}
