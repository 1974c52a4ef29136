import { APP } from './app.ts'

const keyOf = (objectId: string): string => `svc.${APP}.reference.${objectId}`

/**
 * A reference that the page makes stays the same until the request that names it has succeeded. A form that is opened
 * again after a lost response would else name another refund.
 */
export const keptReference = (objectId: string, made: string): string =>
  sessionStorage.getItem(keyOf(objectId)) ?? made

export async function withReference<T>(
  objectId: string,
  reference: string,
  work: () => Promise<T>,
): Promise<T> {
  sessionStorage.setItem(keyOf(objectId), reference)
  const done = await work()
  sessionStorage.removeItem(keyOf(objectId))
  return done
}
