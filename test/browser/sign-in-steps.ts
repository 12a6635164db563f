import type { Locator, Page } from 'playwright-core';

export function tokenField(page: Page): Locator {
  return page.getByLabel('Token', { exact: true });
}

export function signOutButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Sign out' });
}

/** Sends a token on the sign-in page. */
export async function signInWith(page: Page, token: string): Promise<void> {
  await tokenField(page).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Whose page it is, as it says itself. */
export function account(page: Page): Locator {
  return page.locator('.account bdi');
}
