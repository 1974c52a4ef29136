import { rfc3339 } from '@svc/kernel/time'
import { type Verdict, verifyChains } from '@svc/platform/audit-chain'
import type { Services } from '@svc/server/http/operation'
import { BackgroundCheck, type CheckTools } from '../background-check.ts'

/** Walks over the audit chains, for the console. */
export function auditChecks(services: CheckTools): BackgroundCheck<Verdict> {
  const { database, log } = services
  return new BackgroundCheck(services, 'audit', async () => {
    const verdict = await verifyChains((work) => database.report(work))
    if (!verdict.whole) log.error({ verdict }, 'an audit chain is broken')
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
    ? { state: 'intact', running, checkedOn, entries: result.entries }
    : {
        state: 'broken',
        running,
        checkedOn,
        entries: result.entries,
        brokenAt: result.number,
        ...(result.tenantId !== undefined && { tenantId: result.tenantId }),
        problem: result.problem,
      }
}
