import type { Alert } from './alert-store.ts'
import { type Condition, SEVERITIES } from './conditions.ts'

/** An alert whose condition lasts and has changed. */
export interface Change {
  readonly alert: Alert
  readonly condition: Condition
  /** It is worse than what was acknowledged, or more severe than before: people are notified again. */
  readonly worsened: boolean
}

export interface AlertDecision {
  readonly opened: readonly Condition[]
  readonly changed: readonly Change[]
  readonly closed: readonly Alert[]
}

const keyOf = ({ kind, objectId }: Pick<Condition, 'kind' | 'objectId'>): string => `${kind} ${objectId}`

const rank = (severity: Condition['severity']): number => SEVERITIES.indexOf(severity)

/** Decision O9: more severe, or twice as much as was acknowledged. */
function isWorse(alert: Alert, { severity, value }: Condition): boolean {
  if (alert.acknowledgedSeverity === null || alert.acknowledgedValue === null)
    return rank(severity) > rank(alert.severity)
  return (
    rank(severity) > rank(alert.acknowledgedSeverity) ||
    value >= 2 * Math.max(1, Number(alert.acknowledgedValue))
  )
}

const hasChanged = (alert: Alert, { detail, severity, value }: Condition): boolean =>
  alert.detail !== detail || alert.severity !== severity || Number(alert.value) !== value

/** What becomes of the alerts that are not closed, with the conditions that last now. */
export function decideAlerts(alerts: readonly Alert[], conditions: readonly Condition[]): AlertDecision {
  const lasting = new Map(conditions.map((condition) => [keyOf(condition), condition]))
  const known = new Set(alerts.map(keyOf))
  return {
    opened: [...lasting.values()].filter((condition) => !known.has(keyOf(condition))),
    changed: alerts.flatMap((alert) => {
      const condition = lasting.get(keyOf(alert))
      return condition && hasChanged(alert, condition)
        ? [{ alert, condition, worsened: isWorse(alert, condition) }]
        : []
    }),
    closed: alerts.filter((alert) => !lasting.has(keyOf(alert))),
  }
}
