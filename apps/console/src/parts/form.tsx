import { Button, Group, Stack } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { type ReactNode, useState } from 'react'
import { asCallFailed } from '../failure.ts'
import { type FormKey, newFormKey } from '../form-key.ts'
import { FailureAlert } from './failure-alert.tsx'

export type Values = Record<string, unknown>
type Rule = (value: never, values: never) => string | null

export interface FormProps<V extends Values> {
  /** On the button that sends it. */
  readonly send: string
  readonly initial: V
  readonly rules?: Partial<Record<keyof V, Rule>>
  readonly fields: (form: UseFormReturnType<V>) => ReactNode
  /**
   * Throws when the service refuses; its words are shown over the buttons. `key`: the `Idempotency-Key`, the same until
   * the form has been sent with success.
   */
  readonly submit: (values: V, key: FormKey) => Promise<unknown>
}

export interface ClosingForm<V extends Values> extends FormProps<V> {
  /** Of a dialog. */
  readonly close?: () => void
  /** Called with whether its request runs. */
  readonly onBusy?: (busy: boolean) => void
  /** Beside the button that sends it. */
  readonly beside?: ReactNode
}

/** A form on a page or in a dialog. What the service says of a field is shown at the field. */
export function Form<V extends Values>({
  send,
  initial,
  rules,
  fields,
  submit,
  close,
  onBusy,
  beside,
}: ClosingForm<V>) {
  // Not on blur: a message that appears while the button is pressed would push it away from under the pointer.
  const form = useForm<V>({ initialValues: initial, validate: (rules ?? {}) as never })
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<unknown>()
  const [key, setKey] = useState(newFormKey)
  const act = async (values: V) => {
    setBusy(true)
    onBusy?.(true)
    setFailed(undefined)
    try {
      await submit(values, key)
      setKey(newFormKey())
      close?.()
    } catch (error) {
      form.setErrors(
        Object.fromEntries(Object.entries(asCallFailed(error).fields).filter(([name]) => name in values)),
      )
      setFailed(error)
    } finally {
      setBusy(false)
      onBusy?.(false)
    }
  }
  return (
    <form onSubmit={form.onSubmit((values) => void act(values))} noValidate>
      <Stack>
        {fields(form)}
        {failed !== undefined && <FailureAlert failed={failed} tried={send} />}
        <Group justify="flex-end">
          {beside}
          {close && (
            <Button variant="default" onClick={close} disabled={busy}>
              Close
            </Button>
          )}
          <Button type="submit" loading={busy}>
            {send}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
