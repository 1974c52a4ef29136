declare const OF_A_FORM: unique symbol

/**
 * An `Idempotency-Key` that a form has from when it is opened until it succeeds: sent again, it does nothing twice. A
 * request that a form sent before it was opened keeps the key that it had then (`pending-requests.ts`).
 */
export type FormKey = string & { readonly [OF_A_FORM]: true }

export const newFormKey = (): FormKey =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  ) as FormKey

/** The key of one of several requests that a form sends to the same operation. */
export const partOf = (key: FormKey, part: string | number): FormKey => `${key}.${part}` as FormKey

/** Header of a change, with the key of its form. */
export const once = (key: FormKey) => ({ 'Idempotency-Key': key })
