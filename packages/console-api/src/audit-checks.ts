import { rfc3339 } from '@svc/kernel/time'
import { type Verdict, verifyChain } from '@svc/platform/audit-chain'
import type { Services } from '@svc/server/http/operation'
import { BackgroundCheck, type CheckTools } from './background-check.ts'

/** Walks over the audit chain, for the console. */
export function auditChecks(services: CheckTools): BackgroundCheck<Verdict> {
  const { database, log } = services
  return new BackgroundCheck(services, 'audit', async () => {
    const verdict = await verifyChain((work) => database.report(work))
    if (!verdict.whole) log.error({ verdict }, 'the audit chain is broken')
    return verdict
  })
}

/** The latest one, as the console shows it. */
export async function latestVerification({
  config,
  auditChecks: runs,
}: Pick<Services, 'config'> & { readonly auditChecks: BackgroundCheck<Verdict> }) {
  const { ended, running } = await runs.latest()
  if (!ended) return { state: 'unknown', running, entries: 0 }
  const { problem, result, startedAt } = ended
  const checkedOn = rfc3339(startedAt, config.BUSINESS_TIME_ZONE)
  if (!result) return { state: 'failed', running, checkedOn, entries: 0, problem }
  return result.whole
    ? { state: 'intact', running, checkedOn, entries: result.head.sequence }
    : {
        state: 'broken',
        running,
        checkedOn,
        entries: result.sequence - 1,
        brokenAt: result.sequence,
        problem: result.problem,
      }
}
