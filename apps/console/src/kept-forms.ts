type Field = HTMLInputElement | HTMLTextAreaElement

/** Fields of forms and dialogs in which the person entered something. */
const entered = new Set<Field>()
for (const type of ['input', 'change'])
  document.addEventListener(
    type,
    ({ target }) => {
      const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
      if (isField && target.closest('form, [role="dialog"]')) entered.add(target)
    },
    { capture: true },
  )

/** Whether what was entered is still on the page: when the session ends then, the sign-in comes over it. */
export function hasKeptForm(): boolean {
  for (const field of entered) if (!field.isConnected) entered.delete(field)
  return entered.size > 0
}

/** The person leaves the page and what is in its forms. */
export const forgetKeptForms = (): void => entered.clear()
