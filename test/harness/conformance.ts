import { keyMaker } from '@svc/app/serve-until'
import { checkConformance } from '@svc/conformance/conformance'
import type { Result, Status } from '@svc/conformance/run'
import { prepareDemo } from '@svc/server/sandbox/demo'
import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { type Mutation, startMutant } from './mutant-proxy.ts'
import { openService, type TestService } from './service.ts'

export interface SandboxService {
  readonly service: TestService
  readonly sandbox: SandboxFile
}

/** A sandbox with its demo tenants, that many runs of the kit do not exhaust. */
export async function openSandbox(settings: Record<string, string> = {}): Promise<SandboxService> {
  const service = await openService({ env: { FAILED_ATTEMPTS_PER_MINUTE: '100000', ...settings } })
  return { service, sandbox: await prepareDemo(service.app.services, keyMaker(service.app)) }
}

type Choice = Partial<Parameters<typeof checkConformance>[0]>

/** Holds the sandbox, or what stands in front of it, to the kit's promises. */
export const conformanceOf = ({ sandbox }: SandboxService, choice: Choice = {}): Promise<Result> =>
  checkConformance({
    baseUrl: sandbox.baseUrl,
    credentials: sandbox,
    profile: 'full',
    timeoutMs: 20_000,
    totalMs: 120_000,
    ...choice,
  })

export async function conformanceOfMutant(
  from: SandboxService,
  mutation: Mutation,
  choice: Choice = {},
): Promise<Result> {
  const mutant = await startMutant(from.sandbox.baseUrl, mutation)
  try {
    return await conformanceOf(from, { baseUrl: mutant.baseUrl, ...choice })
  } finally {
    await mutant.close()
  }
}

export const idsOf = ({ outcomes }: Result, ...statuses: readonly Status[]): string[] =>
  outcomes.filter(({ status }) => statuses.includes(status)).map(({ check }) => check.id)
