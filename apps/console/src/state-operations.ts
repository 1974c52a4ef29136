/** Paths of operations that set a state and are no PATCH, after the base of their API. */
const SET_STATES: ReadonlySet<string> = new Set([
  '/cards/{svcCardId}/flags',
  '/cards/{svcCardId}/kyc',
  '/cards/{svcCardId}/status',
  '/coin-configs/{coinConfigId}/deactivate',
  '/svc-coins/{coinConfigId}/deactivate',
])

/**
 * Whether an operation only sets a record to what the request says. Sent twice, it creates nothing twice. The same
 * request is often meant again, once the record was changed back: to lock, unlock and lock a card (decision C13).
 */
export const setsState = (method: string, path: string): boolean => method === 'PATCH' || SET_STATES.has(path)
